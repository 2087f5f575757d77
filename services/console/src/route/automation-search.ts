import { choiceField, searchCodec, textField } from "./search.js";

export const AUTOMATION_TABS = ["schedules", "triggers", "firings"] as const;

/** State of the page of schedules and triggers that is in its address. */
export const automationSearch = searchCodec({ tab: choiceField("tab", AUTOMATION_TABS) });

/** State of the audit log that is in its address. */
export const auditSearch = searchCodec({
  /** Subject of the callers; empty: all. */
  subject: textField("subject"),
});
