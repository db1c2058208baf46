// dom.js -- elements in one line each.

// el("button.icon", {title: "x", onclick: f}, "text", child, ...)
export function el(what, attributes = {}, ...children) {
  const [tag, ...classes] = what.split("."), e = document.createElement(tag);
  if (classes.length) e.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else if (key.startsWith("aria-")) e.setAttribute(key, String(value));
    else if (value === true) e.setAttribute(key, "");
    else if (value !== false && value != null) e.setAttribute(key, value);
  }
  e.append(...children.filter((c) => c != null));
  return e;
}

const PATHS = {
  play: "M7 5v14l12-7z", pause: "M7 5h4v14H7zM14 5h4v14h-4z",
  back: "M18 6l-8 6 8 6V6zM6 6v12", forward: "M6 6l8 6-8 6V6zM18 6v12", start: "M19 6l-7 6 7 6M11 6l-7 6 7 6",
  sun: "M12 8a4 4 0 100 8 4 4 0 000-8zM12 2v2M12 20v2M4.9 4.9l1.4 1.4M17.7 17.7l1.4 1.4M2 12h2M20 12h2M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4",
  help: "M9.2 9a2.8 2.8 0 115 1.7c-1 .9-2.2 1.4-2.2 3M12 17.5v.1M12 2.5a9.5 9.5 0 100 19 9.5 9.5 0 000-19z",
  camera: "M4 8h3l2-3h6l2 3h3v11H4zM12 10.5a3.5 3.5 0 100 7 3.5 3.5 0 000-7z", link: "M10 14a4 4 0 005.7.3l3-3a4 4 0 00-5.700-5.700l-1.500 1.500M14 10a4 4 0 00-5.700-.3l-3 3a4 4 0 005.700 5.700l1.500-1.500",
  full: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5", loop: "M5 12a7 7 0 0112-5l2 2M19 4v5h-5M19 12a7 7 0 01-12 5l-2-2M5 20v-5h5",
  home: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5M12 9.5a2.5 2.5 0 100 5 2.5 2.5 0 000-5z",
};

export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg"), path = document.createElementNS(svg.namespaceURI, "path");
  svg.setAttribute("viewBox", "0 0 24 24"), svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}

export function table(rows) {
  return el("table", {}, ...rows.map(([k, x]) => el("tr", {}, el("th", { scope: "row" }, k), el("td", {}, x))));
}

// Offer bytes as a file.
export function download(blob, name) {
  const a = el("a", { href: URL.createObjectURL(blob), download: name.replace(/[^\w.+-]+/g, "-") });
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10000);
}
