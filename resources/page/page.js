"use strict";
const page = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const svg = document.querySelector("#picture svg"), box = svg.viewBox.baseVal;
let round = page.first, step = page.step;
const home = () => page.rounds[round].view;

// Moving and zooming the picture

const px = () => Math.max(box.width / svg.clientWidth, box.height / svg.clientHeight) || 1;
const at = (e) => new DOMPoint(e.clientX, e.clientY).matrixTransform(svg.getScreenCTM().inverse());
const zoom = (factor, p) => {
  box.x = p.x - (p.x - box.x) * factor; box.y = p.y - (p.y - box.y) * factor;
  box.width *= factor; box.height *= factor;
};
const middle = () => ({x: box.x + box.width / 2, y: box.y + box.height / 2});
const fit = () => { [box.x, box.y, box.width, box.height] = home(); };
const pan = (x, y) => { box.x += 60 * px() * x; box.y += 60 * px() * y; };
svg.addEventListener("wheel", (e) => {
  e.preventDefault(); zoom(Math.exp(e.deltaY * 0.0015), at(e));
}, {passive: false});
let held = false;
svg.addEventListener("pointerdown", (e) => { held = true; svg.setPointerCapture(e.pointerId); });
svg.addEventListener("pointerup", () => { held = false; });
svg.addEventListener("pointermove", (e) => {
  if (held) { box.x -= e.movementX * px(); box.y -= e.movementY * px(); }
});
svg.addEventListener("dblclick", fit);

// Steps and rounds

const steps = () => page.rounds[round].steps;
const frame = () => {
  const frames = page.rounds[round].frames;
  if (step === null) return frames[0];
  return frames.filter((f) => f.step === null || f.step <= step).pop();
};
const cell = (text) => {
  const made = document.createElement("td");
  made.textContent = text;
  return made;
};
const opened = new Set();  // the folds that are open: first and last step of each
const shown = [];  // the rows in sight: first and last step (from 0) of each, and its element
const add = (first, last, kind, cells, does) => {
  const row = document.createElement("tr");
  row.className = kind;
  row.append(...[String(first + 1), ...cells].map(cell));
  row.addEventListener("click", does);
  shown.push({first, last, row});
};
const addRows = (first, last, folds) => {
  let at = first;
  const addSteps = (end) => {
    for (; at < end; at++) {
      const s = steps()[at], number = at + 1;
      add(at, at, s.kind, [s.op, s.upstream, s.formula, s.downstream, s.line ? String(s.line) : ""],
        () => go(number));
    }
  };
  for (const fold of folds) {
    addSteps(fold.first);
    const key = `${fold.first}-${fold.last}`, isOpen = opened.has(key);
    const [op, upstream, count, ...others] = fold.cells;
    add(fold.first, fold.last, "fold", [op, upstream, `${count} ${isOpen ? "⌄" : "›"}`, ...others],
      () => { if (!opened.delete(key)) opened.add(key); fill(); show(); });
    if (isOpen) addRows(fold.first, fold.last, fold.folds);
    at = fold.last + 1;
  }
  addSteps(last + 1);
};
const fill = () => {
  shown.length = 0;
  addRows(0, steps().length - 1, page.rounds[round].folds);
  $("rows").replaceChildren(...shown.map((s) => s.row));
};
const show = () => {
  $("drawn").innerHTML = frame().groups.map((g) => page.groups[g]).join("");
  if (page.alone) return;
  $("title").textContent = page.rounds[round].words;
  const count = steps().length;
  $("place").textContent = !count ? "TensorFlow ran no backward step" :
    step === null ? `whole flow, ${count} steps` : `step ${step} of ${count}`;
  for (const [name, off] of [["first", step === 1], ["back", step === null || step === 1],
    ["forward", step === count], ["last", step === count], ["whole", step === null]]) {
    $(name).disabled = !count || off;
  }
  const current = step === null ? undefined :
    shown.filter((s) => s.first < step && step <= s.last + 1).pop();
  shown.forEach((s) => {
    s.row.classList.toggle("now", s === current);
    s.row.classList.toggle("later", step !== null && s.first + 1 > step);
  });
  document.querySelectorAll("#lines .now").forEach((line) => line.classList.remove("now"));
  const line = step === null ? null : $(`L${steps()[step - 1].line}`);
  if (line) line.classList.add("now");
  for (const now of [line, current && current.row]) {
    if (now && now.scrollIntoView) now.scrollIntoView({block: "nearest"});
  }
};
const go = (to) => {
  const count = steps().length;
  step = to === null || !count ? null : Math.max(1, Math.min(to, count));
  show();
};
const turn = (to) => {
  const before = String(home());
  round = Math.max(0, Math.min(to, page.rounds.length - 1));
  if (String(home()) !== before) fit();
  if ($("round")) $("round").value = round;
  fill();
  go(step);
};
const forward = () => go(step === null ? 1 : step + 1);
const back = () => { if (step !== null) go(step - 1); };

if (!page.alone) {
  const act = {first: () => go(1), back, forward, last: () => go(steps().length),
    whole: () => go(null)};
  for (const [name, does] of Object.entries(act)) $(name).addEventListener("click", does);
  $("theme").addEventListener("click", () => document.documentElement.classList.toggle("dark"));
  if ($("round")) $("round").addEventListener("input", () => turn(Number($("round").value)));
}
addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const moves = {ArrowLeft: () => pan(-1, 0), ArrowRight: () => pan(1, 0),
    ArrowUp: () => pan(0, -1), ArrowDown: () => pan(0, 1)};
  const walks = {ArrowLeft: back, ArrowRight: forward, Home: () => go(1),
    End: () => go(steps().length), Escape: () => go(null),
    PageUp: () => turn(round - 1), PageDown: () => turn(round + 1)};
  const zooms = {"+": () => zoom(0.8, middle()), "=": () => zoom(0.8, middle()),
    "-": () => zoom(1.25, middle()), "0": fit};
  const does = {...zooms, ...(e.shiftKey || page.alone ? moves : walks)}[e.key];
  if (does && e.target !== $("round")) { e.preventDefault(); does(); }
});
if (!page.alone) fill();
show();
