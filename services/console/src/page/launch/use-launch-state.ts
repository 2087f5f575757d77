import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { type LaunchSearch, launchSearch } from "../../route/launch-search.js";
import { createDraftStore } from "./draft-store.js";
import { applyDraft, encodeDraft, type LaunchState } from "./launch-state.js";

/** Time after the last change until the address holds it. */
const SETTLE_MS = 400;
const drafts = createDraftStore(globalThis.sessionStorage);

/** State of the form, which the address of the page holds. */
export function useLaunchState(search: LaunchSearch, start: LaunchState) {
  const navigate = useNavigate();
  const [state, setState] = useState(() => applyDraft(start, drafts.read(search)));
  const [id] = useState(() => (search.draft === "" ? crypto.randomUUID().slice(0, 8) : search.draft));
  const text = encodeDraft(state, start);
  const { values, draft } = search;
  useEffect(() => {
    const timer = setTimeout(() => {
      const place = drafts.write(text, id);
      if (place.values === values && place.draft === draft) return;
      void navigate({
        to: ".",
        search: (now: Readonly<Record<string, unknown>>) => launchSearch.write({ ...launchSearch.read(now), ...place }),
        replace: true,
      });
    }, SETTLE_MS);
    return () => clearTimeout(timer);
  }, [text, id, values, draft, navigate]);
  return {
    state,
    setState,
    /** Opens the page with another version, plan or source, and what has been entered. */
    open: (change: Partial<LaunchSearch>) =>
      void navigate({ to: ".", search: launchSearch.write({ ...search, ...drafts.write(text, id), ...change }) }),
  };
}
