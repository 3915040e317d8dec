// Package manifestkey keeps the key that signs a manifest: the private one in a PEM file that only its owner can open,
// and in FILE.jwks the public keys, those of before among them until their end.
package manifestkey

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/aaep/manifest"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/keyfile"
)

const (
	privatePEM = "PRIVATE KEY"
	// rsaBits is the size of new RSA keys.
	rsaBits = 3072
	// publicSuffix is behind the name of the private key's file.
	publicSuffix = ".jwks"
)

// Pair is a private key, and the public keys beside it; its own is the first.
type Pair struct {
	Private crypto.Signer
	Public  manifest.Keys
}

// PublicFile is where the public keys of a private key lie.
func PublicFile(file string) string { return file + publicSuffix }

// Make creates a key for an algorithm, in two new files.
func Make(file string, algorithm manifest.Algorithm) (manifest.Key, error) {
	private, key, err := generate(algorithm)
	if err != nil {
		return manifest.Key{}, err
	}
	secret, public, err := texts(private, manifest.Keys{key})
	if err != nil {
		return manifest.Key{}, err
	}
	return key, keyfile.CreatePair(file, secret, PublicFile(file), public)
}

// Open reads a key that is closed to others, and the public keys beside it that still count.
func Open(file string, now time.Time) (Pair, error) {
	private, key, err := readPrivate(file)
	if err != nil {
		return Pair{}, err
	}
	all, err := ReadPublic(PublicFile(file))
	if err != nil {
		return Pair{}, err
	}
	public := all.At(now)
	if _, there := public.Find(key.ID); !there {
		return Pair{}, cause.Fail(nil, fmt.Sprintf("the key in %s is not among those in %s, or its time is over", file, PublicFile(file)),
			"finish with `earshot manifest rotate`, or make a key with `earshot manifest keygen`")
	}
	return Pair{Private: private, Public: public}, nil
}

// Rotate makes a new key of the same algorithm in the place of the old one, whose public half counts until a time; if that
// is now, all old ones are dropped. The public keys are written first: a rotation that was cut off is finished by another one.
func Rotate(file string, until, now time.Time) (next, former manifest.Key, err error) {
	_, former, err = readPrivate(file)
	if err != nil {
		return next, former, err
	}
	public, err := ReadPublic(PublicFile(file))
	if err != nil {
		return next, former, err
	}
	private, next, err := generate(former.Algorithm)
	if err != nil {
		return next, former, err
	}
	rotated := public.Rotate(next, until, now)
	if kept, there := rotated.Find(former.ID); there {
		former = kept // with the end that it has, which may have been set before
	}
	secret, set, err := texts(private, rotated)
	if err != nil {
		return next, former, err
	}
	if err := keyfile.Replace(PublicFile(file), set, keyfile.PublicMode); err != nil {
		return next, former, err
	}
	return next, former, keyfile.Replace(file, secret, keyfile.PrivateMode)
}

// Trusted reads the file of a flag with the public keys of a producer; "" is none.
func Trusted(file string) (manifest.Keys, error) {
	if file == "" {
		return nil, nil
	}
	return ReadPublic(file)
}

// ReadPublic reads a file of public keys.
func ReadPublic(file string) (manifest.Keys, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, cause.Fail(err, "the public keys cannot be read", "name the FILE.jwks that `earshot manifest keygen FILE` has made")
	}
	keys, err := manifest.ParseKeys(raw)
	if err != nil {
		return nil, cause.Fail(err, "the public keys in "+file+" cannot be used", "name a JWK set, such as `earshot manifest keygen` makes")
	}
	return keys, nil
}

// generate makes a key.
func generate(algorithm manifest.Algorithm) (private crypto.Signer, key manifest.Key, err error) {
	switch algorithm {
	case manifest.ES256:
		private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case manifest.EdDSA:
		_, private, err = ed25519.GenerateKey(rand.Reader)
	case manifest.RS256:
		private, err = rsa.GenerateKey(rand.Reader, rsaBits)
	default:
		return nil, key, cause.Misuse(fmt.Sprintf("the algorithm is %.40q", algorithm), fmt.Sprintf("expected one of %v", manifest.Algorithms()))
	}
	if err != nil {
		return nil, key, cause.Fail(err, "no key could be made", "")
	}
	if key, err = manifest.NewKey(private.Public()); err != nil {
		return nil, key, cause.Fail(err, "no key could be made", "")
	}
	return private, key, nil
}

// texts are the contents of the two files.
func texts(private crypto.Signer, public manifest.Keys) (secret, set []byte, err error) {
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, cause.Fail(err, "the key could not be written down", "")
	}
	set, err = public.Encode()
	if err != nil {
		return nil, nil, cause.Fail(err, "the public keys could not be written down",
			"if there are too many, wait until the first of the old ones ends, or drop them all with `earshot manifest rotate --days 0`")
	}
	return pem.EncodeToMemory(&pem.Block{Type: privatePEM, Bytes: der}), append(set, '\n'), nil
}

func readPrivate(file string) (crypto.Signer, manifest.Key, error) {
	if err := keyfile.CheckClosed(file); err != nil {
		return nil, manifest.Key{}, err
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, manifest.Key{}, cause.Fail(err, "the key cannot be read", "name the file that `earshot manifest keygen` has made")
	}
	unusable := func(err error) error {
		return cause.Fail(err, "the file "+file+" holds no key that signs manifests", "make one with `earshot manifest keygen FILE`")
	}
	block, rest := pem.Decode(raw)
	if block == nil || block.Type != privatePEM || strings.TrimSpace(string(rest)) != "" {
		return nil, manifest.Key{}, unusable(nil)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	private, is := parsed.(crypto.Signer)
	if err != nil || !is {
		return nil, manifest.Key{}, unusable(err)
	}
	key, err := manifest.NewKey(private.Public())
	if err != nil {
		return nil, manifest.Key{}, unusable(err)
	}
	return private, key, nil
}
