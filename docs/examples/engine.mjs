// A player as a program of its own, in JavaScript: exec:node docs/examples/engine.mjs
// It plays a legal action at random, from the number that comes with the request.
import { createInterface } from "node:readline";

const answer = (request) => {
  if (request.type === "hello") return { type: "hello", protocol: 1, name: "modulo" };
  const { legal } = request.state;
  return { id: request.id, action: legal[request.random % legal.length] };
};

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(answer(JSON.parse(line))));
}
