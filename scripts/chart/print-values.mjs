// Prints values with their descriptions as comments.
import { stringify } from "yaml";

const WIDTH = 120;

/** @returns {string} */
export function printValues(values) {
  return `# Made by \`npm run generate\` from deploy/kubernetes.\n${printGroup(values, "")}`;
}

function printGroup(entries, indent) {
  return Object.entries(entries)
    .map(([key, entry]) => {
      const above = `${indent === "" ? "\n" : ""}${comment(entry.about, indent)}`;
      if (entry.entries !== undefined) return `${above}${indent}${key}:\n${printGroup(entry.entries, `${indent}  `)}`;
      const lines = stringify({ [key]: entry.fallback }, { lineWidth: 0 })
        .trimEnd()
        .split("\n");
      return `${above}${lines.map((line) => `${indent}${line}\n`).join("")}`;
    })
    .join("");
}

function comment(about, indent) {
  if (about === "") return "";
  const lines = [""];
  for (const word of about.split(" ")) {
    const last = lines.at(-1);
    if (last !== "" && indent.length + last.length + word.length > WIDTH) lines.push(word);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines.map((line) => `${indent}# ${line}\n`).join("");
}
