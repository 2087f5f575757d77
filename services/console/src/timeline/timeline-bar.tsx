import type { OrderKind } from "../node-table/order/list-rows.js";
import styles from "./timeline.module.css";

/** Orders with their titles. */
const ORDERS: readonly (readonly [order: OrderKind, title: string])[] = [
  ["tree", "Tree"],
  ["start", "By start"],
  ["slowest", "Slowest"],
];

export interface TimelineBarProps {
  readonly order: OrderKind;
  readonly isFit: boolean;
  readonly isFollowing: boolean;
  readonly isWhole: boolean;
  readonly isTraced: boolean;
  onOrder(order: OrderKind): void;
  onFit(): void;
  onFollow(isFollowing: boolean): void;
  onWhole(isWhole: boolean): void;
  onTrace(isTraced: boolean): void;
}

/** Choices of what the timeline shows. */
export function TimelineBar({ order, isFit, isFollowing, isWhole, isTraced, ...on }: TimelineBarProps) {
  return (
    <div className={styles["bar"]} role="toolbar" aria-label="Timeline">
      <span className={styles["choices"]} role="group" aria-label="Order">
        {ORDERS.map(([each, title]) => (
          <button key={each} type="button" aria-pressed={each === order} onClick={() => on.onOrder(each)}>
            {title}
          </button>
        ))}
      </span>
      <span className={styles["choices"]} role="group" aria-label="Time">
        <button type="button" aria-pressed={isFit} onClick={() => on.onFit()}>
          Fit
        </button>
        <button type="button" aria-pressed={isFollowing} onClick={() => on.onFollow(!isFollowing)}>
          Follow
        </button>
      </span>
      <span className={styles["choices"]} role="group" aria-label="Rows">
        <button type="button" aria-pressed={isWhole} onClick={() => on.onWhole(!isWhole)}>
          All rows
        </button>
        <button type="button" aria-pressed={isTraced} onClick={() => on.onTrace(!isTraced)}>
          Critical path
        </button>
      </span>
    </div>
  );
}
