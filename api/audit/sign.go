package audit

import (
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// headDomain begins every text that a head's signature is of.
const headDomain = "earshot-audit-head-1"

// SignedHead is a head that somebody vouches for who holds a key: who has the public half alone can
// tell later that it was noted so.
type SignedHead struct {
	Head

	// At is when it was signed, to the microsecond, by the clock of who signed.
	At time.Time `json:"at"`
	// Chain is the link of the chain's first entry, which no two ledgers share.
	Chain string `json:"chain"`
	// Signature is one by Ed25519, in hex.
	Signature string `json:"signature"`
}

// Sign signs a head of a chain with the given first link.
func Sign(key ed25519.PrivateKey, h Head, chain string, at time.Time) SignedHead {
	s := SignedHead{Head: h, Chain: chain, At: at.UTC().Truncate(time.Microsecond)}
	s.Signature = hex.EncodeToString(ed25519.Sign(key, s.text()))
	return s
}

// Signed reports whether the signature is that of the key's holder, of this very head.
func (s SignedHead) Signed(key ed25519.PublicKey) bool {
	signature, err := hex.DecodeString(s.Signature)
	return err == nil && len(key) == ed25519.PublicKeySize && ed25519.Verify(key, s.text(), signature)
}

// text is what is signed: the domain, number, link, first link and time (microseconds since 1970), with
// a [LinkBreak] between each two.
func (s SignedHead) text() []byte {
	return []byte(strings.Join([]string{
		headDomain, strconv.FormatInt(s.N, 10), s.Link, s.Chain, strconv.FormatInt(s.At.UnixMicro(), 10),
	}, LinkBreak))
}

// String is the head as one line: N:LINK, the time as RFC 3339 has it, the chain and the signature, with
// a space between each two.
func (s SignedHead) String() string {
	return fmt.Sprintf("%s %s %s %s", s.Head, s.At.Format(time.RFC3339Nano), s.Chain, s.Signature)
}

// String is the head as N:LINK.
func (h Head) String() string { return strconv.FormatInt(h.N, 10) + ":" + h.Link }

// ParseHead reads a head as one line; without a signature it is N:LINK alone. The error says what is
// expected.
func ParseHead(line string) (SignedHead, error) {
	var s SignedHead
	parts := strings.Fields(line)
	const plain, signed = 1, 4
	if len(parts) != plain && len(parts) != signed {
		return s, fmt.Errorf("audit: found %d parts, expected N:LINK, or that with a time, a chain and a signature", len(parts))
	}
	number, link, _ := strings.Cut(parts[0], ":")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 1 || !digits(link, linkSize) {
		return s, fmt.Errorf("audit: found %.100q, expected a number, a colon and 64 hexadecimal digits", parts[0])
	}
	s.Head = Head{N: n, Link: link}
	if len(parts) == plain {
		return s, nil
	}
	s.At, err = time.Parse(time.RFC3339Nano, parts[1])
	if err != nil || !digits(parts[2], linkSize) || !digits(parts[3], ed25519.SignatureSize) {
		return SignedHead{}, fmt.Errorf("audit: found %.200q behind N:LINK, expected a time, 64 and 128 hexadecimal digits", strings.Join(parts[1:], " "))
	}
	s.Chain, s.Signature = parts[2], parts[3]
	return s, nil
}

// linkSize is how many bytes a link has.
const linkSize = 32

// digits reports whether a text is so many bytes as lower-case hex.
func digits(text string, size int) bool {
	raw, err := hex.DecodeString(text)
	return err == nil && len(raw) == size && text == strings.ToLower(text)
}
