package enrol_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/passkey"
	"github.com/earshot-dev/earshot/internal/passkey/enrol"
	"github.com/earshot-dev/earshot/internal/testkit/authenticator"
)

// Where the parts of the authenticator's data are, for an id of 16 bytes.
const (
	flags, idLength, keyAt  = 32, 53, 71
	withCredential, further = 1 << 6, 1 << 7
)

// made makes a registration, after a change of its members, its data and its key.
func made(t *testing.T, algorithm int, self bool, change func(m *members)) (api.PasskeyRegistration, *authenticator.Device) {
	t.Helper()
	d, err := authenticator.New(algorithm, origin, site)
	if err != nil {
		t.Fatal(err)
	}
	d.Self = self
	r := d.Register("challenge")
	raw, err := base64.RawURLEncoding.DecodeString(r.Attestation)
	if err != nil {
		t.Fatal(err)
	}
	var m members
	if err := cbor.Unmarshal(raw, &m.object); err != nil {
		t.Fatal(err)
	}
	data, _ := m.object["authData"].([]byte)
	m.data, m.cose = data[:keyAt], data[keyAt:]
	if err := cbor.Unmarshal(m.cose, &m.key); err != nil {
		t.Fatal(err)
	}
	whole := maps.Clone(m.key)
	change(&m)
	if !maps.EqualFunc(whole, m.key, func(a, b any) bool { return bytes.Equal(canonical(t, a), canonical(t, b)) }) {
		m.cose = canonical(t, m.key)
	}
	m.object["authData"] = slices.Concat(m.data, m.cose, m.rest)
	r.Attestation = base64.RawURLEncoding.EncodeToString(canonical(t, m.object))
	return r, d
}

// members are the parts of an attestation object.
type members struct {
	object           map[string]any
	data, cose, rest []byte
	key              map[int64]any // cose is written again if it changes
}

func canonical(t *testing.T, of any) []byte {
	t.Helper()
	mode, err := cbor.CTAP2EncOptions().EncMode()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := mode.Marshal(of)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestAttestation changes the parts of an attestation object one by one.
func TestAttestation(t *testing.T) {
	t.Parallel()
	const es, ed, rs = authenticator.ES256, authenticator.EdDSA, authenticator.RS256
	for name, tt := range map[string]struct {
		algorithm int
		self      bool
		change    func(m *members)
		good      bool
	}{
		"nothing":                       {es, false, func(*members) {}, true},
		"another make of device":        {es, false, func(m *members) { m.data[40] = 1 }, true},
		"an extension":                  {es, false, func(m *members) { m.data[flags] |= further; m.rest = []byte{0xa1, 0x61, 'x', 1} }, true},
		"no extension":                  {es, false, func(m *members) { m.data[flags] |= further }, false},
		"an unsaid extension":           {es, false, func(m *members) { m.rest = []byte{0xa0} }, false},
		"an extension that is a number": {es, false, func(m *members) { m.data[flags] |= further; m.rest = []byte{1} }, false},
		"more after an extension":       {es, false, func(m *members) { m.data[flags] |= further; m.rest = []byte{0xa0, 0} }, false},
		"an extension twice":            {es, false, func(m *members) { m.data[flags] |= further; m.rest = []byte{0xa2, 0x61, 'x', 1, 0x61, 'x', 1} }, false},
		"no credential":                 {es, false, func(m *members) { m.data[flags] &^= withCredential }, false},
		"a byte more":                   {es, false, func(m *members) { m.rest = []byte{0} }, false},
		"no key":                        {es, false, func(m *members) { m.cose = nil }, false},
		"the head alone":                {es, false, func(m *members) { m.data, m.cose = m.data[:37], nil }, false},
		"an id too long":                {es, false, func(m *members) { m.data[idLength] = 4 }, false},
		"an id of nothing":              {es, false, func(m *members) { m.data[idLength+1] = 0 }, false},
		"another format":                {es, false, func(m *members) { m.object["fmt"] = "tpm" }, false},
		"none, and a statement":         {es, false, func(m *members) { m.object["attStmt"] = map[string]any{"alg": es} }, false},
		"no statement":                  {es, false, func(m *members) { delete(m.object, "attStmt") }, false},
		"a statement that is a list":    {es, false, func(m *members) { m.object["attStmt"] = []int{} }, false},
		"no data":                       {es, false, func(m *members) { m.object["fmt"], m.data, m.cose = "none", nil, nil }, false},
		"self, another way":             {es, true, func(m *members) { statement(m)["alg"] = ed }, false},
		"self, no way":                  {es, true, func(m *members) { delete(statement(m), "alg") }, false},
		"self, no signature":            {es, true, func(m *members) { delete(statement(m), "sig") }, false},
		"self, another signature":       {ed, true, func(m *members) { statement(m)["sig"] = make([]byte, 64) }, false},
		"self, other data":              {rs, true, func(m *members) { m.data[40] = 1 }, false},
		"self, and a certificate":       {es, true, func(m *members) { statement(m)["x5c"] = []any{[]byte{1}} }, false},
		"self, called none":             {es, true, func(m *members) { m.object["fmt"] = "none" }, false},
		"beside the curve":              {es, false, func(m *members) { m.key[-3] = make([]byte, 32) }, false},
		"no point":                      {es, false, func(m *members) { m.key[-2], m.key[-3] = make([]byte, 32), make([]byte, 32) }, false},
		"a short coordinate":            {es, false, func(m *members) { m.key[-2] = make([]byte, 31) }, false},
		"another curve":                 {es, false, func(m *members) { m.key[-1] = 2 }, false},
		"another way":                   {es, false, func(m *members) { m.key[3] = -35 }, false},
		"the way of another kind":       {es, false, func(m *members) { m.key[3] = rs }, false},
		"the kind of another way":       {ed, false, func(m *members) { m.key[1] = 2 }, false},
		"a list for a way":              {ed, false, func(m *members) { m.key[3] = []int{} }, false},
		"octets for a way":              {ed, false, func(m *members) { m.key[3] = []byte{1} }, false},
		"one member more":               {es, false, func(m *members) { m.key[4] = []int{2} }, false},
		"one member less":               {ed, false, func(m *members) { delete(m.key, -1) }, false},
		"Ed25519, short":                {ed, false, func(m *members) { m.key[-2] = make([]byte, 31) }, false},
		"Ed25519, another curve":        {ed, false, func(m *members) { m.key[-1] = 7 }, false},
		"RSA, 1024 bits":                {rs, false, func(m *members) { m.key[-1] = bytes.Repeat([]byte{0xff}, 128) }, false},
		"RSA, too long":                 {rs, false, func(m *members) { m.key[-1] = bytes.Repeat([]byte{0xff}, 1025) }, false},
		"RSA, a zero first":             {rs, false, func(m *members) { m.key[-1] = append([]byte{0}, bytes.Repeat([]byte{0xff}, 256)...) }, false},
		"RSA, exponent 1":               {rs, false, func(m *members) { m.key[-2] = []byte{1} }, false},
		"RSA, exponent 3":               {rs, false, func(m *members) { m.key[-2] = []byte{3} }, true},
		"RSA, even exponent":            {rs, false, func(m *members) { m.key[-2] = []byte{1, 0, 0} }, false},
		"RSA, huge exponent":            {rs, false, func(m *members) { m.key[-2] = []byte{0xff, 0xff, 0xff, 0xff} }, false},
		"a member twice":                {ed, false, func(m *members) { m.cose = append([]byte{m.cose[0] + 1, 1, 1}, m.cose[1:]...) }, false},
		"another order":                 {ed, false, func(m *members) { m.cose = slices.Concat(m.cose[:1], m.cose[3:5], m.cose[1:3], m.cose[5:]) }, false},
		"a number in two bytes":         {ed, false, func(m *members) { m.cose = slices.Concat(m.cose[:2], []byte{0x18, 1}, m.cose[3:]) }, false},
		"without a length":              {ed, false, func(m *members) { m.cose = slices.Concat([]byte{0xbf}, m.cose[1:], []byte{0xff}) }, false},
		"a tag":                         {ed, false, func(m *members) { m.cose = append([]byte{0xc1}, m.cose...) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, d := made(t, tt.algorithm, tt.self, tt.change)
			key, _, err := enrol.Key(r, "anna", origin, "challenge")
			if (err == nil) != tt.good {
				t.Fatalf("got %v, want it taken: %t", err, tt.good)
			}
			if err == nil && key.ID != d.Name() {
				t.Errorf("the id is %s", key.ID)
			}
		})
	}
}

func statement(m *members) map[any]any {
	s, _ := m.object["attStmt"].(map[any]any)
	return s
}

// flip is a registration, and which of its bits go-webauthn v0.18.2, which was part of the program once, let be flipped.
type flip struct {
	Algorithm                                   int
	Passkey, Client, Attestation, Public, Flips string
}

// TestFlips flips each bit of registrations. None is taken that go-webauthn refused. Of what it took, only these are refused:
// names in other letters, statements under another name, a backup that cannot be, and RSA keys of another size.
func TestFlips(t *testing.T) {
	t.Parallel()
	for _, row := range flips(t) {
		r := api.PasskeyRegistration{Passkey: row.Passkey, Client: row.Client, Attestation: row.Attestation}
		if key, counter, err := enrol.Key(r, "anna", origin, "challenge"); err != nil || key.Public != row.Public || counter != 1 {
			t.Fatalf("%d: %v %d %v", row.Algorithm, key, counter, err)
		}
		raw, err := base64.RawURLEncoding.DecodeString(row.Attestation)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := hex.DecodeString(row.Flips)
		if err != nil {
			t.Fatal(err)
		}
		data := bytes.Index(raw, []byte("authData")) + len("authData")
		for i := range raw {
			for bit := range 8 {
				raw[i] ^= 1 << bit
				r.Attestation = base64.RawURLEncoding.EncodeToString(raw)
				_, _, err := enrol.Key(r, "anna", origin, "challenge")
				raw[i] ^= 1 << bit
				taken, was := err == nil, theirs[i]&(1<<bit) != 0
				mayDiffer := i < data || bytes.IndexByte(raw[data:], 0x45)+data == i && bit == 4 || row.Algorithm == authenticator.RS256 && i >= len(raw)-3
				if taken != was && (taken || !mayDiffer) {
					t.Errorf("%d: bit %d of byte %d of %d: taken is %t (%v), and was %t", row.Algorithm, bit, i, len(raw), taken, err, was)
				}
			}
		}
	}
}

func flips(t testing.TB) (rows []flip) {
	t.Helper()
	raw, err := os.ReadFile("testdata/flips.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &rows, json.MatchCaseInsensitiveNames(true)); err != nil || len(rows) != len(enrol.Algorithms()) {
		t.Fatal(len(rows), err)
	}
	return rows
}

// FuzzKey: whatever is handed over, a key that is taken is the one in the registration, and can be used.
func FuzzKey(f *testing.F) {
	for _, row := range flips(f) {
		raw, err := base64.RawURLEncoding.DecodeString(row.Attestation)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(row.Passkey, row.Client, raw)
	}
	f.Fuzz(func(t *testing.T, id, client string, attestation []byte) {
		r := api.PasskeyRegistration{Passkey: id, Client: client, Attestation: base64.RawURLEncoding.EncodeToString(attestation)}
		key, _, err := enrol.Key(r, "anna", origin, "challenge")
		if err != nil {
			return
		}
		raw, err := base64.RawURLEncoding.DecodeString(key.ID)
		if err != nil || !bytes.Contains(attestation, raw) {
			t.Errorf("the id %s is not in it: %v", key.ID, err)
		}
		if _, err := passkey.PublicKey(key.Public); err != nil || key.Person != "anna" || key.Site != site {
			t.Errorf("%+v: %v", key, err)
		}
	})
}
