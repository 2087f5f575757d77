import type { DeckPage } from "@flyte-ts/sdk/runtime";
import { escapeHtml, renderMarkdown } from "./markdown.js";

/** Style of the page; it follows the colors of the browser. */
const STYLE = `:root { color-scheme: light dark; font: 14px/1.5 system-ui, sans-serif; }
body { margin: 1rem; } table { border-collapse: collapse; } td, th { border: 1px solid; padding: 0.2rem 0.5rem; }
pre { overflow: auto; } section { margin-bottom: 2rem; } h1.deck { font-size: 1.2rem; border-bottom: 1px solid; }`;

/** Pages that a task shows, written together as `deck.html`. */
export class Decks {
  readonly #parts = new Map<string, string[]>();

  constructor(private readonly save: (bytes: Uint8Array) => Promise<void>) {}

  /** True when the task has made a page. */
  get isUsed(): boolean {
    return this.#parts.size > 0;
  }

  /** Returns the page with this name; texts are appended to it. */
  page(name: string): DeckPage {
    const parts = this.#parts.get(name) ?? [];
    this.#parts.set(name, parts);
    return { html: (text) => void parts.push(text), markdown: (text) => void parts.push(renderMarkdown(text)) };
  }

  write(): Promise<void> {
    const sections = [...this.#parts].map(
      ([name, parts]) => `<section><h1 class="deck">${escapeHtml(name)}</h1>\n${parts.join("\n")}\n</section>`,
    );
    const page = `<!doctype html>\n<html><head><meta charset="utf-8"><style>${STYLE}</style></head>\n<body>\n${sections.join("\n")}\n</body></html>\n`;
    return this.save(Buffer.from(page));
  }
}
