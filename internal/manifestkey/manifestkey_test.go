package manifestkey_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/manifest"
	"github.com/earshot-dev/earshot/internal/cause"
	"github.com/earshot-dev/earshot/internal/manifestkey"
)

var moment = time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)

// A key is made once, and changed without leaving those alone who have a manifest of before.
func Example() {
	folder, err := os.MkdirTemp("", "keys-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	file := filepath.Join(folder, "manifest.pem")
	first, err := manifestkey.Make(file, manifest.ES256)
	if err != nil {
		panic(err)
	}
	if _, _, err := manifestkey.Rotate(file, moment.AddDate(0, 1, 0), moment); err != nil {
		panic(err)
	}
	pair, err := manifestkey.Open(file, moment)
	if err != nil {
		panic(err)
	}
	former, there := pair.Public.Find(first.ID)
	fmt.Println(len(pair.Public), pair.Public[0].Algorithm, there, former.Until.Format(time.DateOnly))
	// Output: 2 ES256 true 2026-06-01
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestRotate: what the old key has signed verifies until its end, with the public keys alone; a rotation that was cut
// off between its two files is finished by another one.
func TestRotate(t *testing.T) {
	t.Parallel()
	document, err := aaep.Manifest{AgentID: "a", AAEPVersionsSupported: []string{aaep.Version}}.Encode()
	must(t, err)
	for _, algorithm := range manifest.Algorithms() {
		file := filepath.Join(t.TempDir(), "key.pem")
		_, err := manifestkey.Make(file, algorithm)
		must(t, err)
		pair, err := manifestkey.Open(file, moment)
		must(t, err)
		signed, err := manifest.Sign(document, pair.Private)
		must(t, err)
		old, err := os.ReadFile(file)
		must(t, err)
		until := moment.Add(time.Hour)
		next, former, err := manifestkey.Rotate(file, until, moment)
		must(t, err)
		if next.Algorithm != algorithm || former.ID != pair.Public[0].ID || next.ID == former.ID {
			t.Errorf("%s: %v after %v", algorithm, next, former)
		}
		public, err := manifestkey.ReadPublic(manifestkey.PublicFile(file))
		must(t, err)
		if _, err := (manifest.Expected{Keys: public, Now: until.Add(-time.Second)}).Verify(signed); err != nil {
			t.Error(err)
		}
		if _, err := (manifest.Expected{Keys: public, Now: until}).Verify(signed); err == nil {
			t.Error("it counts after its end")
		}
		must(t, os.WriteFile(file, old, 0o600)) // as if the second file had not been written
		_, former, err = manifestkey.Rotate(file, until.Add(time.Hour), moment)
		must(t, err)
		if !former.Until.Equal(until) {
			t.Errorf("the key that had an end already counts until %v, want %v", former.Until, until)
		}
		if pair, err = manifestkey.Open(file, moment); err != nil || len(pair.Public) != 3 {
			t.Errorf("%v: %v", err, pair.Public)
		}
		info, err := os.Stat(file)
		must(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("the mode is %v", info.Mode())
		}
	}
}

// TestRotateOften: a file of keys that no more fit into stays as it is, and the hint empties it.
func TestRotateOften(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "key.pem")
	_, err := manifestkey.Make(file, manifest.EdDSA)
	must(t, err)
	for range 63 {
		_, _, err := manifestkey.Rotate(file, moment.Add(time.Hour), moment)
		must(t, err)
	}
	before, err := manifestkey.Open(file, moment)
	must(t, err)
	_, _, err = manifestkey.Rotate(file, moment.Add(time.Hour), moment)
	if failed, is := errors.AsType[*cause.Error](err); !is || !strings.Contains(failed.Hint, "--days 0") {
		t.Errorf("got %v", err)
	}
	if after, err := manifestkey.Open(file, moment); err != nil || len(after.Public) != 64 || after.Public[0].ID != before.Public[0].ID {
		t.Errorf("%v: %d keys", err, len(after.Public))
	}
	_, _, err = manifestkey.Rotate(file, moment, moment)
	must(t, err)
	if after, err := manifestkey.Open(file, moment); err != nil || len(after.Public) != 1 {
		t.Errorf("%v: %d keys", err, len(after.Public))
	}
}

// TestMakeBoth: where the public half cannot be written, no private key is left that would be in the way.
func TestMakeBoth(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "key.pem")
	must(t, os.WriteFile(manifestkey.PublicFile(file), []byte("of somebody else"), 0o600))
	if _, err := manifestkey.Make(file, manifest.EdDSA); err == nil {
		t.Error("the public keys were written over")
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the private key: %v", err)
	}
	must(t, os.Remove(manifestkey.PublicFile(file)))
	_, err := manifestkey.Make(file, manifest.EdDSA)
	must(t, err)
}

func TestRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "key.pem")
	_, err := manifestkey.Make(file, manifest.EdDSA)
	must(t, err)
	good, err := os.ReadFile(file)
	must(t, err)
	other := filepath.Join(dir, "other.pem")
	_, err = manifestkey.Make(other, manifest.EdDSA)
	must(t, err)
	set, err := os.ReadFile(manifestkey.PublicFile(other))
	must(t, err)
	for name, tt := range map[string]struct {
		says    string
		prepare func(file string) error
	}{
		"open to a group":  {"is open to others (mode 0640, expected 0600)", func(file string) error { return os.Chmod(file, 0o640) }},
		"open to all":      {"is open to others (mode 0604, expected 0600)", func(file string) error { return os.Chmod(file, 0o604) }},
		"not there":        {"the key cannot be read", os.Remove},
		"no key":           {"holds no key that signs manifests", func(file string) error { return os.WriteFile(file, []byte("hello"), 0o600) }},
		"two keys":         {"holds no key that signs manifests", func(file string) error { return os.WriteFile(file, append(good, good...), 0o600) }},
		"no public keys":   {"the public keys cannot be read", func(file string) error { return os.Remove(manifestkey.PublicFile(file)) }},
		"damaged":          {"cannot be used", func(file string) error { return os.WriteFile(manifestkey.PublicFile(file), []byte("{}"), 0o600) }},
		"another's public": {"is not among those in", func(file string) error { return os.WriteFile(manifestkey.PublicFile(file), set, 0o600) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "key.pem")
			_, err := manifestkey.Make(file, manifest.EdDSA)
			must(t, err)
			must(t, tt.prepare(file))
			_, err = manifestkey.Open(file, moment)
			failed, is := errors.AsType[*cause.Error](err)
			if !is || !strings.Contains(failed.Message, tt.says) || failed.Hint == "" {
				t.Errorf("got %v, want %q", err, tt.says)
			}
		})
	}
	if _, err := manifestkey.Make(file, manifest.EdDSA); err == nil {
		t.Error("a key is written over")
	}
	if _, err := manifestkey.Make(filepath.Join(dir, "new.pem"), "HS256"); err == nil {
		t.Error("a shared secret is made")
	}
}
