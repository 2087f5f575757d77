import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { Scope } from "../../api/scope.js";
import { useApp } from "../../app/app.js";
import { Button } from "../../control/button.js";
import form from "../../control/form.module.css";
import { useRights } from "../../frame/use-role.js";
import styles from "./settings-page.module.css";

/** Sends a notification to a receiver, and says whether it was accepted. */
export function ReceiverTest({ scope }: { readonly scope: Scope }) {
  const { api } = useApp();
  const [receiver, setReceiver] = useState("");
  const refused = useRights(scope).refusal("admin");
  const { mutate, isPending, data, error } = useMutation({
    mutationFn: async (to: string) => {
      await api.platform.testNotification(scope, to);
      return to;
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (refused === undefined && receiver !== "") mutate(receiver.trim());
  };
  return (
    <form className={styles.line} onSubmit={submit}>
      <label className={styles.days}>
        Try a receiver
        <input
          className={form.text}
          placeholder="ann@example.com or webhook:ops"
          value={receiver}
          onChange={({ target }) => setReceiver(target.value)}
        />
      </label>
      <Button
        type="submit"
        refused={refused ?? (receiver.trim() === "" ? "Name a mail address or a webhook" : undefined)}
        disabled={isPending}
      >
        Send a test
      </Button>
      <span role="status">
        {isPending ? "Sending…" : error !== null ? `Not accepted: ${error.message}` : data !== undefined && `${data} accepted it.`}
      </span>
    </form>
  );
}
