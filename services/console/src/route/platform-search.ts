import { choiceField, searchCodec, textField } from "./search.js";

/** State of the page of roles that is in its address. */
export const accessSearch = searchCodec({
  /** Subject whose rights are explained. */
  subject: textField("subject"),
  /** Groups of the subject, separated by commas. */
  groups: textField("groups"),
});

export const SETTINGS_TABS = ["attributes", "retention", "notifications"] as const;

/** State of the page of settings that is in its address. */
export const settingsSearch = searchCodec({ tab: choiceField("tab", SETTINGS_TABS) });
