// Elements in one line: el("button", { class: "big", onclick }, "Start").

export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value != null) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child != null));
  return element;
}

// What this browser keeps; where storage is blocked, nothing.
export function kept(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function keep(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch {
    // private windows have no memory
  }
}

export function say(words) {
  const news = document.getElementById("news");
  news.textContent = "";
  requestAnimationFrame(() => (news.textContent = words));
}

export function tell(words) {
  say(words);
  document.querySelector(".toast")?.remove(); // the newest is read, not what lies on top of others
  const note = el("div", { class: "toast" }, words);
  document.body.append(note);
  setTimeout(() => note.remove(), 6000);
}

export function download(name, blob) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

export async function copyText(words) {
  try {
    await navigator.clipboard.writeText(words);
  } catch {
    const area = el("textarea", { readonly: true, class: "quiet", "aria-label": "to be copied" });
    area.value = words;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  tell("copied");
}
