package audit

import (
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// headDomain begins every text that a head's signature covers.
const headDomain = "earshot-audit-head-1"

// SignedHead is a head signed by the holder of a key. With the public key, anyone can verify later that it was noted
// so.
type SignedHead struct {
	Head

	// At is when it was signed, to the microsecond, by the signer's clock.
	At time.Time `json:"at"`
	// Chain is the link of the chain's first entry, which is unique to a ledger.
	Chain string `json:"chain"`
	// Signature is an Ed25519 signature, in hex.
	Signature string `json:"signature"`
}

// Sign signs a head of a chain with the given first link.
func Sign(key ed25519.PrivateKey, h Head, chain string, at time.Time) SignedHead {
	s := SignedHead{Head: h, Chain: chain, At: at.UTC().Truncate(time.Microsecond)}
	s.Signature = hex.EncodeToString(ed25519.Sign(key, s.text()))
	return s
}

// Signed reports whether the signature belongs to this head and the key's holder.
func (s SignedHead) Signed(key ed25519.PublicKey) bool {
	signature, err := hex.DecodeString(s.Signature)
	return err == nil && len(key) == ed25519.PublicKeySize && ed25519.Verify(key, s.text(), signature)
}

// text is the signed text: the domain, number, link, first link and time (microseconds since 1970), separated by
// [LinkBreak].
func (s SignedHead) text() []byte {
	return []byte(strings.Join([]string{
		headDomain, strconv.FormatInt(s.N, 10), s.Link, s.Chain, strconv.FormatInt(s.At.UnixMicro(), 10),
	}, LinkBreak))
}

// String formats the head as one line: N:LINK, the time in RFC 3339 format, the chain and the signature, separated by
// spaces.
func (s SignedHead) String() string {
	return fmt.Sprintf("%s %s %s %s", s.Head, s.At.Format(time.RFC3339Nano), s.Chain, s.Signature)
}

// String formats the head as N:LINK.
func (h Head) String() string { return strconv.FormatInt(h.N, 10) + ":" + h.Link }

// ParseHead parses a head in one line; without a signature it is just N:LINK. The error says what is expected.
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

// digits reports whether a text consists of that many bytes in lower-case hex.
func digits(text string, size int) bool {
	raw, err := hex.DecodeString(text)
	return err == nil && len(raw) == size && text == strings.ToLower(text)
}
