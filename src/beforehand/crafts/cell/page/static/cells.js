// The robot of a cell glides from where it stood to where it stands.

const stood = new Map();

function glide() {
  for (const cell of document.querySelectorAll("[data-cell]")) {
    const marker = cell.querySelector(".robot-here");
    if (!marker) continue;
    const here = { x: Number(marker.dataset.x), y: Number(marker.dataset.y), marker };
    const before = stood.get(cell.dataset.cell);
    stood.set(cell.dataset.cell, here);
    if (!before || before.marker === marker || matchMedia("(prefers-reduced-motion: reduce)").matches) continue;
    const [dx, dy] = [before.x - here.x, before.y - here.y];
    if (dx || dy) marker.animate([{ transform: `translate(${dx}px, ${dy}px)` }, { transform: "none" }], { duration: 450, easing: "ease-in-out" });
  }
}

document.addEventListener("beforehand:page", glide);
glide();
