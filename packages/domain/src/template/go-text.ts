/**
 * Formats a number as Go's `%v`: the shortest digits that read back the same, in exponent form
 * below 1e-04 and from 1e+06 on. `bits` is the width of the number.
 */
export function floatText(value: number, bits: 32 | 64 = 64): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const scientific = bits === 64 ? value.toExponential() : shortestFloat32(value);
  const [digits = "", exponentText = ""] = scientific.split("e");
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 6) return plain(digits, exponent);
  return `${digits}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

function shortestFloat32(value: number): string {
  for (let fraction = 0; fraction < 9; fraction++) {
    const text = value.toExponential(fraction);
    if (Math.fround(Number(text)) === value) return text;
  }
  return value.toExponential();
}

/** Decimal form of digits `d.ddd` times ten to `exponent`, which is small. */
function plain(digits: string, exponent: number): string {
  const sign = digits.startsWith("-") ? "-" : "";
  const all = digits.replace(/[-.]/g, "");
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${all}`;
  const whole = all.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  const fraction = all.slice(exponent + 1);
  return fraction === "" ? `${sign}${whole}` : `${sign}${whole}.${fraction}`;
}

/** Formats a time as RFC 3339 in UTC, with as many decimals as needed. */
export function timestampText(seconds: bigint, nanos: number): string {
  const date = new Date(Number(seconds) * 1000).toISOString().slice(0, -5);
  return `${date}${fractionText(nanos)}Z`;
}

/** Formats a duration in seconds: `1.5s`. */
export function durationText(seconds: bigint, nanos: number): string {
  const sign = seconds < 0n || nanos < 0 ? "-" : "";
  const whole = seconds < 0n ? -seconds : seconds;
  return `${sign}${whole}${fractionText(Math.abs(nanos))}s`;
}

function fractionText(nanos: number): string {
  return nanos === 0 ? "" : `.${String(nanos).padStart(9, "0").replace(/0+$/, "")}`;
}
