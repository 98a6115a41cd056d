"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const rows = [...document.querySelectorAll("#level tbody tr")];
const byId = (id) => document.getElementById(id);
const percent = (part) => (part * 100).toFixed(2) + "%";
const tresMinutes = (secs) => String(Number((secs / 60).toFixed(1)));

// The number in a row's field; null where it has none, or not a whole number from 0 up.
const number = (at) => {
  const field = rows[at].querySelector("input");
  if (!field || !/^\d+$/.test(field.value)) return null;
  const value = Number(field.value);
  return value <= Number(field.max) ? value : null;
};

// By the rules of docs/policies: minutes are a time, shares divide the rest.
function show() {
  const values = data.rows.map((row, at) => (row.kind === "parent" ? null : number(at)));
  const sum = (kind) => data.rows.reduce(
    (all, row, at) => all + (row.kind === kind && !row.apart ? values[at] ?? 0 : 0), 0);
  const [shares, given] = [sum("shares"), sum("minutes")];
  const all = data.rows.reduce((all, row, at) => all + (row.kind === "minutes" ? values[at] ?? 0 : 0), 0);
  const has = data.minutes ? data.minutes.of_account : null;
  const excess = has !== null && given > has;
  const secs = has !== null ? has * 60 : data.minutes ? 0 : data.claim;
  const rest = Math.max(secs - (has !== null ? given * 60 : 0), 0);
  const base = has !== null || !data.minutes ? secs : all * 60;
  const whole = has !== null || !data.minutes ? data.whole : 1;
  const total = { level: 0, whole: 0, claim: 0 };
  data.rows.forEach((row, at) => {
    const value = values[at];
    const cell = (name) => rows[at].querySelector("." + name);
    if (row.kind === "parent" || value === null) {
      for (const name of ["of-level", "of-whole", "claim", "ratio"]) cell(name).textContent = "";
      return;
    }
    let claim = shares > 0 ? rest * value / shares : 0;
    if (row.kind === "minutes") claim = excess && !row.apart ? secs * value / given : value * 60;
    const level = base > 0 ? claim / base : row.kind === "shares" && shares > 0 ? value / shares : 0;
    cell("of-level").textContent = percent(level);
    cell("of-whole").textContent = percent(level * whole);
    cell("claim").textContent = tresMinutes(claim);
    cell("ratio").textContent = claim > 0 ? (row.used / claim).toFixed(4) : "";
    total.level += level;
    total.whole += level * whole;
    total.claim += claim;
    rows[at].classList.toggle("changed", value !== row.was);
  });
  const foot = (name) => document.querySelector("#level tfoot ." + name);
  foot("of-level").textContent = percent(total.level);
  foot("of-whole").textContent = percent(total.whole);
  foot("claim").textContent = tresMinutes(total.claim);
  foot("given").textContent = [shares > 0 || !data.minutes ? shares : "", all > 0 ? all + " min" : ""].filter(String).join("; ");
  const left = byId("left");
  left.classList.toggle("over", excess);
  if (has === null) left.textContent = data.minutes ? given + " minutes are given out." : "";
  else if (excess) left.textContent = (given - has) + " minutes too many: " + given + " of " + has + ". The site refuses this.";
  else left.textContent = (has - given) + " of " + has + " minutes are left to give out.";
  const wrong = data.rows.some((row, at) => row.kind !== "parent" && values[at] === null);
  const lines = data.rows.map((row, at) => values[at] !== null && values[at] !== row.was ? row.command + values[at] : null);
  const said = lines.filter((line) => line !== null);
  byId("commands").value = excess ? "" : wrong ? "# a field has no whole number" : said.join("\n");
  const zero = data.rows.filter((row, at) => values[at] === 0 && row.was !== 0).map((row) => row.name);
  byId("zero").textContent = zero.length ? zero.join(", ") + ": entitled to nothing, after all others" : "";
}

document.querySelectorAll("#level input").forEach((field) => field.addEventListener("input", show));
byId("copy").addEventListener("click", () => {
  const box = byId("commands");
  box.select();
  if (navigator.clipboard) navigator.clipboard.writeText(box.value).catch(() => document.execCommand("copy"));
  else document.execCommand("copy");
});
show();
