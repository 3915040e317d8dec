package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/audit"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/operate"
)

// The kinds of PEM blocks that keys are in.
const privatePEM, publicPEM = "PRIVATE KEY", "PUBLIC KEY"

const keepKeyElsewhere = "keep the key where nobody who may write to the ledger can read it, such as on another machine"

func (m *Main) auditKeyCommand() *cobra.Command {
	data := ""
	c := &cobra.Command{
		Use:   "key FILE",
		Short: "Make a key to sign heads of the audit chain with",
		Long: `Make a key (Ed25519) to sign heads of the audit chain with, in a new file that only you can read, and its public half in
FILE.pub. It is not made inside the data directory: ` + keepKeyElsewhere + `.`,
		Example: `  earshot audit key /media/keys/heads.pem`,
		Args:    exactly(1, "the file of the new key"),

		ValidArgsFunction: completeFiles,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := m.keyOutside(data, args[0]); err != nil {
				return err
			}
			return m.makeKey(args[0])
		},
	}
	c.Flags().StringVar(&data, "data", "", dataUsage)
	markPaths(c, []string{"data"}, nil)
	return c
}

func (m *Main) makeKey(file string) error {
	half, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return cause.Fail(err, "no key could be made", "")
	}
	private, perr := x509.MarshalPKCS8PrivateKey(key)
	public, herr := x509.MarshalPKIXPublicKey(half)
	if err := errors.Join(perr, herr); err != nil {
		return cause.Fail(err, "the key could not be written down", "")
	}
	if err := newFile(file, pem.EncodeToMemory(&pem.Block{Type: privatePEM, Bytes: private}), 0o600); err != nil {
		return err
	}
	if err := newFile(file+".pub", pem.EncodeToMemory(&pem.Block{Type: publicPEM, Bytes: public}), 0o644); err != nil {
		return err
	}
	m.sayf("The key is in %s, its public half in %s.", cause.OneLine(file), cause.OneLine(file+".pub"))
	return m.allSaid()
}

// newFile writes a file that is not there yet.
func newFile(name string, content []byte, mode os.FileMode) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err == nil {
		_, err = f.Write(content)
		err = errors.Join(err, f.Sync(), f.Close())
	}
	if err != nil {
		return cause.Fail(err, "the key was not written", "name a new file, in a folder that you may write to")
	}
	return nil
}

// keyOutside refuses a key in the data directory: whoever may write there could sign what they made anew.
func (m *Main) keyOutside(dataFlag, file string) error {
	data, err := m.dataPath(dataFlag, dataFlag != "")
	if err != nil {
		return nil //nolint:nilerr // Without a data directory, nothing is inside of it.
	}
	file, err = filepath.Abs(file)
	if err != nil {
		return cause.Fail(err, "the file of the key cannot be named", "name it by its absolute path")
	}
	inFolder := filepath.Join(withoutLinks(filepath.Dir(file)), filepath.Base(file))
	for _, name := range []string{file, inFolder, withoutLinks(file)} {
		if within([]string{data, withoutLinks(data)}, name) {
			return cause.Misuse("the file of the key, "+file+", is inside the data directory "+data, keepKeyElsewhere)
		}
	}
	return nil
}

// withoutLinks is a path without symbolic links, as far as it is there.
func withoutLinks(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return path
}

// block reads the one PEM block of a file.
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

func (m *Main) signingKey(dataFlag, file string) (ed25519.PrivateKey, error) {
	if err := m.keyOutside(dataFlag, file); err != nil {
		return nil, err
	}
	if info, err := os.Stat(file); err == nil && info.Mode().Perm()&0o077 != 0 {
		return nil, cause.Fail(nil, fmt.Sprintf("the file of the key, %s, is open to others (mode %04o, expected 0600)", file, info.Mode().Perm()),
			"others may have read it: make another key, and sign with that")
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

// signHead signs the newest head with what names its chain.
func signHead(ctx context.Context, ask operate.Ask, key ed25519.PrivateKey, head audit.Head) (audit.SignedHead, error) {
	var first api.AuditAnswer
	if err := ask(ctx, api.OpAudit, api.AuditRequest{}, &first); err != nil {
		return audit.SignedHead{}, err
	}
	if len(first.Entries) == 0 || first.Entries[0].N != 1 {
		return audit.SignedHead{}, cause.Fail(nil, "the first entry of the chain is not there, so its head was not signed", "see `earshot audit verify`")
	}
	return audit.Sign(key, head, first.Entries[0].Link, time.Now()), nil
}

// knownHead reads the head that was noted, and checks its signature where there is one.
func knownHead(line, public string) (audit.Head, error) {
	h, err := audit.ParseHead(line)
	switch {
	case err != nil:
		return audit.Head{}, cause.Misuse(fmt.Sprintf("--head %.100q is no head of a chain", line),
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
