import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useApp } from "../../app/app.js";

interface SettingChange {
  readonly call: () => Promise<void>;
  /** Sentence after success. */
  readonly done: string;
}

/** Changes settings; a failed change shows its reason. */
export function useSettingActs(): { change(change: SettingChange): void } {
  const { toasts } = useApp();
  const queries = useQueryClient();
  const { mutate } = useMutation({
    mutationFn: ({ call }: SettingChange) => call(),
    onSuccess: async (_, { done }) => {
      toasts.show({ kind: "ok", text: done });
      await queries.invalidateQueries({ queryKey: ["settings"] });
    },
    onError: ({ message }) => toasts.show({ kind: "bad", text: `The setting was not changed: ${message}` }),
  });
  return { change: (change) => mutate(change) };
}
