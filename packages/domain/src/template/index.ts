export { escapeReferences } from "./variable-reference.js";
export { renderTemplate, usesTaskTemplatePath, TemplateError, type TemplateContext } from "./render.js";
export { literalText } from "./literal-text.js";
