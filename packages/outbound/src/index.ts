// Sending
export { post, type Post, type PostOptions } from "./post.js";
export { isMailAddress, type Mail, sendMail, type SmtpOptions } from "./mail.js";
export { RetryableSendError, PermanentSendError } from "./send-errors.js";

// Allowed addresses
export { type AllowAddress, allowPublicAndSubnets, isSubnet } from "./allowed-address.js";
export { isPublicAddress } from "./public-address.js";
export type { ResolveAll } from "./ssrf-safe-lookup.js";

// Secrets and signatures
export { readSecret, type SecretSource, secretSourceSchema } from "./read-secret.js";
export { isSignedBy, secretBytes, secretText, signatureHeaders, type SignedMessage, WEBHOOK_HEADERS } from "./webhook-signature.js";
