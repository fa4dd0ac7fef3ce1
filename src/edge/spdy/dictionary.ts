/**
 * The words that SPDY's header compression begins with: both sides must begin with the same 1,423 bytes.
 * @see https://www.chromium.org/spdy/spdy-protocol/spdy-protocol-draft3-1/#TOC-2.6.10.1-Compression
 */

/** Each stands behind its length, four bytes. */
const WORDS = [
	..."options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges".split(
		" ",
	),
	..."age allow authorization cache-control connection content-base content-encoding content-language".split(" "),
	..."content-length content-location content-md5 content-range content-type date etag expect expires from".split(" "),
	..."host if-match if-modified-since if-none-match if-range if-unmodified-since last-modified location".split(" "),
	..."max-forwards pragma proxy-authenticate proxy-authorization range referer retry-after server te trailer".split(
		" ",
	),
	..."transfer-encoding upgrade user-agent vary via warning www-authenticate method get status".split(" "),
	"200 OK",
	..."version HTTP/1.1 url public set-cookie keep-alive origin".split(" "),
];

/** Codes and values, one behind the other. */
const REST = [
	"100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505",
	"203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized",
	"403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable",
	"Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT",
	"chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,",
	"text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.",
].join("");

export const SPDY_DICTIONARY: Buffer = Buffer.concat([...WORDS.map(lengthPrefixed), Buffer.from(REST)]);

export function lengthPrefixed(text: string): Buffer {
	const bytes = Buffer.from(text);
	const length = Buffer.alloc(4);
	length.writeUInt32BE(bytes.length);
	return Buffer.concat([length, bytes]);
}
