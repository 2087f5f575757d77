/**
 * Source of an expression that returns texts of the page which stand left of the text before them
 * on the same line, as a text does that another one has reordered.
 */
export const misplacedTexts = `(() => {
  const blockOf = (node) => {
    for (let at = node.parentElement; at !== null; at = at.parentElement)
      if (!/^(inline|contents)$/.test(getComputedStyle(at).display)) return at;
    return null;
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const misplaced = [];
  let before;
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(node);
    const boxes = [...range.getClientRects()].filter(({ width }) => width > 0);
    if (boxes.length === 0) continue;
    const at = { block: blockOf(node), first: boxes[0], last: boxes.at(-1), text: node.data };
    if (before?.block === at.block && Math.abs(before.last.top - at.first.top) < 2 && at.first.left < before.last.right - 1)
      misplaced.push([before.text, at.text]);
    before = at;
  }
  return misplaced;
})()`;
