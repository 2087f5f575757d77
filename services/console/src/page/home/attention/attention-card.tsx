import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { GetOverviewResponseJson } from "@flyte-ts/idl/flytets/admin/v1/overview_pb";
import type { Scope } from "../../../api/scope.js";
import { Card } from "../../../control/card.js";
import { classes } from "../../../control/classes.js";
import { PhaseMark } from "../../../control/phase-mark.js";
import { Pill } from "../../../control/pill.js";
import { Time } from "../../../control/time.js";
import { SCOPE_PATH } from "../../../frame/navigation.js";
import styles from "./attention-card.module.css";
import { type AttentionItem, attentionItems, type ItemPage } from "./attention-items.js";
import { ItemButtons } from "./item-buttons.js";

interface AttentionCardProps {
  readonly scope: Scope;
  readonly overview: GetOverviewResponseJson;
  readonly period: string;
}

/** Everything that waits for a person, with the act that settles it. */
export function AttentionCard({ scope, overview, period }: AttentionCardProps) {
  // Admin may repeat an answer from before the act for some seconds.
  const [settled, setSettled] = useState<ReadonlySet<string>>(new Set());
  const items = attentionItems(overview).filter(({ id }) => !settled.has(id));
  const open = items.filter(({ isPast }) => isPast !== true).length;
  return (
    <Card title="Needs attention" note={<Pill kind={open > 0 ? "bad" : "ok"}>{String(open)}</Pill>}>
      <ul className={styles.list}>
        {items.length === 0 && <li className={styles.none}>Nothing failed or waits ({period}).</li>}
        {items.map((item) => (
          <li key={item.id} className={classes(styles.item, item.isPast && styles.past)}>
            <PhaseMark look={item.look} bare />
            <PageLink scope={scope} page={item.page} item={item} />
            <ItemButtons scope={scope} item={item} onSettled={() => setSettled(new Set([...settled, item.id]))} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

interface PageLinkProps {
  readonly scope: Scope;
  readonly page: ItemPage;
  readonly item: AttentionItem;
}

function PageLink({ scope, page: { to, name = "", search }, item: { title, detail, sinceMs, isPast } }: PageLinkProps) {
  return (
    <Link to={`${SCOPE_PATH}${to}`} params={{ ...scope, name }} search={search} className={styles.text} title={detail}>
      <b>{title}</b>
      <small>{detail}</small>
      <small>
        {isPast === true ? "Ran well since · " : ""}
        <Time timeMs={sinceMs} />
      </small>
    </Link>
  );
}
