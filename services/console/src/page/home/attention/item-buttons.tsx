import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useApp } from "../../../app/app.js";
import type { Scope } from "../../../api/scope.js";
import { Button } from "../../../control/button.js";
import { SCOPE_PATH } from "../../../frame/navigation.js";
import { useRights } from "../../../frame/use-role.js";
import styles from "./attention-card.module.css";
import type { AttentionItem } from "./attention-items.js";

interface ItemButtonsProps {
  readonly scope: Scope;
  readonly item: AttentionItem;
  /** Called when an act has settled the item. */
  onSettled(): void;
}

/** Act that settles an item: buttons, or the link to the page where it is settled. */
export function ItemButtons({ scope, item, onSettled }: ItemButtonsProps) {
  const { act, page } = item;
  switch (act.kind) {
    case "recover":
      return <RecoverButton scope={scope} execution={act.execution} onSettled={onSettled} />;
    case "decide":
      return <DecideButtons scope={scope} execution={act.execution} signalId={act.signalId} onSettled={onSettled} />;
    case "open":
      return (
        <Link to={`${SCOPE_PATH}${page.to}`} params={{ ...scope, name: page.name ?? "" }} search={page.search} className={styles.open}>
          {act.text}
        </Link>
      );
  }
}

interface ActProps {
  readonly scope: Scope;
  readonly execution: string;
  onSettled(): void;
}

function RecoverButton({ scope, execution, onSettled }: ActProps) {
  const { api, toasts } = useApp();
  const refused = useRights(scope).refusal("runner");
  const recover = useMutation({
    mutationFn: () => api.executions.recover({ ...scope, name: execution }),
    onSuccess: ({ id }) => {
      const name = id?.name ?? "";
      const to = `/projects/${scope.project}/domains/${scope.domain}/executions/${name}`;
      toasts.show({ kind: "ok", text: `Started ${name}`, link: { text: "Open", to } });
      onSettled();
    },
    onError: ({ message }) => toasts.show({ kind: "bad", text: `${execution} cannot be recovered: ${message}` }),
  });
  return (
    <Button
      small
      refused={refused}
      disabled={recover.isPending}
      aria-label={`Recover ${execution}`}
      title="Start again from the failed nodes"
      onClick={() => recover.mutate()}
    >
      Recover
    </Button>
  );
}

function DecideButtons({ scope, execution, signalId, onSettled }: ActProps & { readonly signalId: string }) {
  const { api, toasts } = useApp();
  const refused = useRights(scope).refusal("runner");
  const decide = useMutation({
    mutationFn: (boolean: boolean) => api.signals.set({ ...scope, name: execution }, signalId, { scalar: { primitive: { boolean } } }),
    onSuccess: (_, boolean) => {
      toasts.show({ kind: "ok", text: `${boolean ? "Approved" : "Rejected"} ${signalId} of ${execution}` });
      onSettled();
    },
    onError: ({ message }) => toasts.show({ kind: "bad", text: `The answer to ${signalId} was not taken: ${message}` }),
  });
  const common = { small: true, refused, disabled: decide.isPending };
  return (
    <span className={styles.buttons}>
      <Button {...common} aria-label={`Approve ${signalId}`} onClick={() => decide.mutate(true)}>
        Approve
      </Button>
      <Button {...common} kind="danger" aria-label={`Reject ${signalId}`} onClick={() => decide.mutate(false)}>
        Reject
      </Button>
    </span>
  );
}
