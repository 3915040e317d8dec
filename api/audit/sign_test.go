package audit_test

import (
	"bytes"
	"crypto/ed25519"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api/audit"
)

func signer(seed byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
}

func public(t *testing.T, key ed25519.PrivateKey) ed25519.PublicKey {
	t.Helper()
	half, is := key.Public().(ed25519.PublicKey)
	if !is {
		t.Fatal("no public key")
	}
	return half
}

// TestSignedHead: the signature is of each part of the head, and of one key alone; the line that it is
// written as says all of it.
func TestSignedHead(t *testing.T) {
	t.Parallel()
	c := six()
	key := signer(1)
	head := audit.Sign(key, audit.Head{N: 6, Link: c[5].Link}, c[0].Link, time.Unix(5, 1999))
	read, err := audit.ParseHead(head.String() + "\n")
	if err != nil || read != head || !read.Signed(public(t, key)) {
		t.Fatalf("%+v was read as %+v (%v)", head, read, err)
	}
	if head.Signed(public(t, signer(2))) || head.Signed(nil) {
		t.Error("it counts as signed with another key")
	}
	for name, alter := range map[string]func(h *audit.SignedHead){
		"number": func(h *audit.SignedHead) { h.N = 5 }, "link": func(h *audit.SignedHead) { h.Link = c[0].Link },
		"chain": func(h *audit.SignedHead) { h.Chain = c[1].Link }, "time": func(h *audit.SignedHead) { h.At = h.At.Add(time.Microsecond) },
		"signature": func(h *audit.SignedHead) { h.Signature = strings.Repeat("0", 128) }, "no signature": func(h *audit.SignedHead) { h.Signature = "" },
		"no hex": func(h *audit.SignedHead) { h.Signature = "x" },
	} {
		h := head
		if alter(&h); h.Signed(public(t, key)) {
			t.Errorf("%s: it counts as signed", name)
		}
	}
}

// TestParseHead: what is not a head is refused.
func TestParseHead(t *testing.T) {
	t.Parallel()
	link, signature := strings.Repeat("a", 64), strings.Repeat("b", 128)
	for _, good := range []string{"3:" + link, " 3:" + link + "\n", "3:" + link + " 2026-01-02T03:04:05.000006Z " + link + " " + signature} {
		if h, err := audit.ParseHead(good); err != nil || h.N != 3 || h.Link != link {
			t.Errorf("%q: %+v, %v", good, h, err)
		}
	}
	for _, bad := range []string{
		"", "3", ":", "0:" + link, "-1:" + link, "3:" + link[1:], "3:" + strings.ToUpper(link), "3:" + link + " x", "3:" + link + " now " + link + " " + signature,
		"3:" + link + " 2026-01-02T03:04:05Z " + signature + " " + link, "3:" + link + " 2026-01-02T03:04:05Z " + link + " " + signature + " x",
	} {
		if h, err := audit.ParseHead(bad); err == nil || h != (audit.SignedHead{}) {
			t.Errorf("%q was read as %+v (%v)", bad, h, err)
		}
	}
}
