import styles from "../input.module.css";

/** None has one value. */
export function NoneField() {
  return <span className={styles.none}>none</span>;
}
