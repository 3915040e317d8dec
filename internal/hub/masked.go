package hub

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"github.com/earshot-dev/earshot/aaep"
)

// tokenDigits is the length of the random part of a masked token; a real one has the same.
const tokenDigits = 32

const replyToken = "reply_token"

// masked returns an event for a listener who may follow the session but not answer in it. AAEP requires a reply token
// (CONFM-04, CLAR-03), so the real one is replaced by one that belongs to no question. It is derived from the real one:
// the same event looks the same to every such listener, on every surface and after a restart. The real one, of 128
// random bits (CONF-05), cannot be derived from it. A token is not a credential (CONF-09, SEC-03); this is a second
// line of defense. The event that reports the outcome of the question names the same token, so that the two still
// match.
func masked(raw []byte) []byte {
	if !bytes.Contains(raw, []byte(replyToken)) {
		return raw
	}
	document := aaep.Read(raw)
	token, is := document.Text(replyToken)
	if !is {
		token, is = document.Text("extensions", aaep.PrefixEarshot, replyToken)
	}
	if !is || token == "" {
		return raw
	}
	return bytes.ReplaceAll(raw, []byte(token), []byte(maskOf(token)))
}

func maskOf(token string) string {
	sum := sha256.Sum256([]byte("earshot-masked-1\n" + token))
	return "rpl_" + hex.EncodeToString(sum[:])[:tokenDigits]
}
