export { escapeReferences } from "./template/variable-reference.js";
export { renderTemplate, renderText, usesTaskTemplatePath, TemplateError, type TemplateContext } from "./template/render.js";
export { literalText } from "./template/literal-text.js";
