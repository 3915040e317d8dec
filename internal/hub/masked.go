package hub

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"github.com/earshot-dev/earshot/aaep"
)

// tokenDigits is how long the random part of a masked token is, as that of a real one.
const tokenDigits = 32

const replyToken = "reply_token"

// masked returns an event as somebody gets it who may hear the session and not answer in it:
// in the place of its reply token, which AAEP requires (CONFM-04, CLAR-03), stands one that no
// question has. It is made of the real one, so that the same event reads the same for every
// such listener and on every surface, also after a restart, and the real one, of 128 random
// bits (CONF-05), cannot be had from it. A token never was a credential (CONF-09, SEC-03):
// this takes away what would be left to try if something else were wrong. The event that
// tells how the question ended names the same token, so that the two still belong together.
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
