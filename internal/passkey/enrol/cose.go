package enrol

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"math/big"
)

// coseKey is a public key in COSE's form (RFC 9052, "COSE Keys"), by the numbers of its members.
type coseKey map[int64]any

// The numbers of members, kinds, ways to sign and curves. What stands under a negative number depends on the kind.
const (
	coseKind, coseAlgorithm                     int64 = 1, 3
	coseFirst, coseSecond, coseThird            int64 = -1, -2, -3
	kindOKP, kindEC2, kindRSA                   int64 = 1, 2, 3
	curveP256, curveEd25519                     int64 = 1, 6
	algES256, algEdDSA, algRS256                      = -7, -8, -257
	coordinate, shortestModulus, longestModulus       = 32, 256, 1024 // bytes
	longestExponent                                   = 4
)

// public converts a key to SubjectPublicKeyInfo, which the standard library reads.
func public(key coseKey) (string, error) {
	read, err := key.read()
	if err != nil {
		return "", err
	}
	der, err := x509.MarshalPKIXPublicKey(read)
	return base64.RawURLEncoding.EncodeToString(der), err
}

// read returns a key that signs in one of the ways that are taken. It has no further members.
func (k coseKey) read() (crypto.PublicKey, error) {
	switch [2]any{k[coseKind], k[coseAlgorithm]} {
	case [2]any{kindEC2, int64(algES256)}:
		return k.ec()
	case [2]any{kindOKP, int64(algEdDSA)}:
		return k.okp()
	case [2]any{kindRSA, int64(algRS256)}:
		return k.rsa()
	}
	return nil, errUnreadable
}

func (k coseKey) ec() (crypto.PublicKey, error) {
	x, y := k.octets(coseSecond), k.octets(coseThird)
	if len(k) != 5 || k[coseFirst] != curveP256 || len(x) != coordinate || len(y) != coordinate {
		return nil, errUnreadable
	}
	const uncompressed = 4
	return ecdsa.ParseUncompressedPublicKey(elliptic.P256(), bytes.Join([][]byte{{uncompressed}, x, y}, nil)) //nolint:wrapcheck // the caller says what has failed
}

func (k coseKey) okp() (crypto.PublicKey, error) {
	x := k.octets(coseSecond)
	if len(k) != 4 || k[coseFirst] != curveEd25519 || len(x) != ed25519.PublicKeySize {
		return nil, errUnreadable
	}
	return ed25519.PublicKey(x), nil
}

func (k coseKey) rsa() (crypto.PublicKey, error) {
	n, e := k.octets(coseFirst), k.octets(coseSecond)
	if len(k) != 4 || len(n) < shortestModulus || len(n) > longestModulus || n[0] == 0 || len(e) == 0 || len(e) > longestExponent || e[0] == 0 {
		return nil, errUnreadable
	}
	exponent := new(big.Int).SetBytes(e).Int64()
	if exponent < 3 || exponent > 1<<31-1 || exponent%2 == 0 {
		return nil, errUnreadable
	}
	return &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(exponent)}, nil
}

func (k coseKey) octets(number int64) []byte {
	raw, _ := k[number].([]byte)
	return raw
}
