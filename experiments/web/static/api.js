// Requests to the server. A token opens one view of one table.

import { keep, kept } from "./dom.js";

export class Refused extends Error {
  constructor(status, reason) {
    super(reason);
    this.status = status;
  }
}

export async function call(path, { token, body, text, signal } = {}) {
  const headers = {};
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const method = body !== undefined || text !== undefined ? "POST" : "GET";
  const sent = body !== undefined ? JSON.stringify(body) : text;
  let answer;
  try {
    answer = await fetch(`/api/${path}`, { method, headers, body: sent, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "the server cannot be reached");
  }
  if (answer.status === 204) return null;
  const isJson = (answer.headers.get("content-type") || "").startsWith("application/json");
  const found = isJson ? await answer.json() : await answer.blob();
  if (!answer.ok) throw new Refused(answer.status, found.error || `the server answered ${answer.status}`);
  return found;
}

// Tables that were opened in this browser, newest first.
const KEY = "tables";
export function remembered() {
  try {
    return JSON.parse(kept(KEY)) || [];
  } catch {
    return [];
  }
}
export function remember(entry) {
  const others = remembered().filter((old) => old.token !== entry.token);
  keep(KEY, JSON.stringify([entry, ...others].slice(0, 30)));
}
