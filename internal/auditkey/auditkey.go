// Package auditkey stores the keys that sign heads of the audit chain: in files outside of the data directory.
package auditkey

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/earshot-dev/earshot/api/audit"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/keyfile"
)

// The PEM types of keys.
const privatePEM, publicPEM = "PRIVATE KEY", "PUBLIC KEY"

// StorageAdvice says where to store a key.
const StorageAdvice = "keep the key where nobody who may write to the ledger can read it, such as on another machine"

// Make creates a key in a new file that only its owner can read, and its public half in FILE.pub.
func Make(file string) error {
	half, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return cause.Fail(err, "no key could be made", "")
	}
	private, perr := x509.MarshalPKCS8PrivateKey(key)
	public, herr := x509.MarshalPKIXPublicKey(half)
	if err := errors.Join(perr, herr); err != nil {
		return cause.Fail(err, "the key could not be written down", "")
	}
	return keyfile.CreatePair(
		file, pem.EncodeToMemory(&pem.Block{Type: privatePEM, Bytes: private}),
		file+".pub", pem.EncodeToMemory(&pem.Block{Type: publicPEM, Bytes: public}),
	)
}

// Outside refuses a key in the data directory: anyone who can write there could sign a forged chain.
func Outside(data, file string) error {
	file, err := filepath.Abs(file)
	if err != nil {
		return cause.Fail(err, "the file of the key cannot be named", "name it by its absolute path")
	}
	inFolder := filepath.Join(withoutLinks(filepath.Dir(file)), filepath.Base(file))
	for _, name := range []string{file, inFolder, withoutLinks(file)} {
		if within(data, name) || within(withoutLinks(data), name) {
			return cause.Misuse("the file of the key, "+file+", is inside the data directory "+data, StorageAdvice)
		}
	}
	return nil
}

// withoutLinks resolves the symbolic links of the existing part of a path.
func withoutLinks(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return path
}

// within reports whether a path is in a folder.
func within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// block reads the only PEM block of a file.
func block(file, kind string) ([]byte, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, cause.Fail(err, "the key cannot be read", "name the file that `earshot audit key` has made")
	}
	b, _ := pem.Decode(raw)
	if b == nil || b.Type != kind {
		return nil, cause.Fail(nil, fmt.Sprintf("the file %s holds no %s as PEM", file, kind), "name the file that `earshot audit key` has made; its public half is in FILE.pub")
	}
	return b.Bytes, nil
}

// Private reads the key of a file, which must not be readable by others.
func Private(file string) (ed25519.PrivateKey, error) {
	if err := keyfile.CheckClosed(file); err != nil {
		return nil, err
	}
	raw, err := block(file, privatePEM)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParsePKCS8PrivateKey(raw)
	key, is := parsed.(ed25519.PrivateKey)
	if err != nil || !is {
		return nil, cause.Fail(err, "the file "+file+" holds no key of Ed25519", "make one with `earshot audit key FILE`")
	}
	return key, nil
}

func publicKey(file string) (ed25519.PublicKey, error) {
	raw, err := block(file, publicPEM)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParsePKIXPublicKey(raw)
	key, is := parsed.(ed25519.PublicKey)
	if err != nil || !is {
		return nil, cause.Fail(err, "the file "+file+" holds no public key of Ed25519", "name the FILE.pub that `earshot audit key FILE` has made")
	}
	return key, nil
}

// Head parses a recorded head, and checks its signature, if there is one, with the public key of a file.
func Head(line, public string) (audit.Head, error) {
	h, err := audit.ParseHead(line)
	switch {
	case err != nil:
		return audit.Head{}, cause.Misuse(fmt.Sprintf("--head %.100q is not the head of a chain", line),
			"give one line as `earshot audit head` tells it: a number, a colon and 64 hexadecimal digits, and what follows if it is signed")
	case h.Signature == "" && public != "":
		return audit.Head{}, cause.Misuse("the head is not signed, so --public has nothing to check", "give the whole line that `earshot audit head --sign` has told, or leave --public out")
	case h.Signature == "":
		return h.Head, nil
	case public == "":
		return audit.Head{}, cause.Misuse("the head is signed, and there is no key to check that with", "name the public half of the key with --public FILE.pub")
	}
	key, err := publicKey(public)
	if err != nil {
		return audit.Head{}, err
	}
	if !h.Signed(key) {
		return audit.Head{}, cause.Fail(nil, "the head was not signed with that key, or was altered since", "see where the head has been kept; nothing was verified")
	}
	return h.Head, nil
}
