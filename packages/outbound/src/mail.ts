import { createTransport } from "nodemailer";
import { RetryableSendError, PermanentSendError } from "./send-errors.js";

export interface SmtpOptions {
  readonly host: string;
  readonly port: number;
  /**
   * `implicit`: TLS from the first byte; `starttls`: STARTTLS is required; `opportunistic`:
   * STARTTLS where the server offers it.
   */
  readonly tls: "implicit" | "starttls" | "opportunistic" | "none";
  readonly verifyCertificate: boolean;
  readonly user?: string | undefined;
  /** Called for each mail, so that the password can be rotated. */
  readonly password?: (() => Promise<string>) | undefined;
  /** Timeout of each SMTP command, ms. */
  readonly timeoutMs: number;
}

export interface Mail {
  /** `id@host`, the same for every attempt. */
  readonly messageId: string;
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly html: string;
}

const ADDRESS = /^[^\s@<>,;:"()[\]\\]+@[^\s@<>,;:"()[\]\\]+$/;

/** True for exactly one mail address, not a list or a header. */
export function isMailAddress(text: string): boolean {
  return text.length <= 254 && ADDRESS.test(text);
}

/**
 * Hands a mail to the server.
 *
 * @throws PermanentSendError when the server will never accept it, as for an unknown recipient;
 *   RetryableSendError
 *   otherwise.
 */
export async function sendMail({ messageId, from, to, subject, html }: Mail, options: SmtpOptions): Promise<void> {
  if (!isMailAddress(to)) throw new PermanentSendError("the recipient is not a mail address");
  const { host, port, tls, timeoutMs, user } = options;
  const transport = createTransport({
    host,
    port,
    secure: tls === "implicit",
    requireTLS: tls === "starttls",
    ignoreTLS: tls === "none",
    tls: { rejectUnauthorized: options.verifyCertificate },
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    ...(user !== undefined && { auth: { user, pass: (await options.password?.()) ?? "" } }),
    // A mail must not cause fetches of files or URLs.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    await transport.sendMail({ messageId: `<${messageId}>`, from, to, subject: oneLine(subject), html });
  } catch (cause) {
    throw failureOf(cause, host);
  } finally {
    transport.close();
  }
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

/**
 * Converts an error of the mail library to the error to throw. Only the server's refusal of this
 * mail is permanent: the operator can correct a wrong password, for example.
 */
function failureOf(cause: unknown, host: string): Error {
  const { code, responseCode, message } = cause as { code?: string; responseCode?: number; message?: string };
  const text = `mail server ${host}: ${message ?? String(cause)}`;
  const ofThisMail = code === "EENVELOPE" || code === "EMESSAGE";
  return ofThisMail && responseCode !== undefined && responseCode >= 500
    ? new PermanentSendError(text, { cause })
    : new RetryableSendError(text, undefined, { cause });
}
