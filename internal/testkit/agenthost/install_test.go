package agenthost_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/internal/testkit/agenthost"
)

// TestVersions: every version is exact, the lock file has the same and a digest of each package, and it names no registry.
func TestVersions(t *testing.T) {
	t.Parallel()
	var wanted struct {
		Dependencies         map[string]string
		OptionalDependencies map[string]string
	}
	var locked struct {
		Packages map[string]struct {
			Version   string
			Resolved  string
			Integrity string
		}
	}
	for file, into := range map[string]any{string(agenthost.Manifest): &wanted, string(agenthost.Lock): &locked} {
		if err := json.Unmarshal([]byte(file), into, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatal(err)
		}
	}
	exact := regexp.MustCompile(`^\d+\.\d+\.\d+$`)
	for _, versions := range []map[string]string{wanted.Dependencies, wanted.OptionalDependencies} {
		if len(versions) == 0 {
			t.Error("found no dependencies")
		}
		for name, version := range versions {
			if got := locked.Packages["node_modules/"+name].Version; !exact.MatchString(version) || got != version {
				t.Errorf("%s: found version %q and %q in the lock file, expected the same exact one", name, version, got)
			}
		}
	}
	for name, p := range locked.Packages {
		if p.Resolved != "" {
			t.Errorf("%s: found the address %s, expected none: make the lock file as CONTRIBUTING.md says", name, p.Resolved)
		}
		if name != "" && p.Integrity == "" {
			t.Errorf("%s: found no digest", name)
		}
	}
}

// fakeNPM puts a program named npm alone on the PATH, and returns the file in which it notes that it ran.
func fakeNPM(t *testing.T, script string) (notes string) {
	t.Helper()
	bin := t.TempDir()
	notes = filepath.Join(bin, "notes")
	script = "#!/bin/sh\necho ran \"$@\" >> " + notes + "\n" + script
	if err := os.WriteFile(filepath.Join(bin, "npm"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	t.Setenv(agenthost.CacheVariable, filepath.Join(t.TempDir(), "cache"))
	return notes
}

// TestInstallOnce: of several that need the programs at once, one installs them.
func TestInstallOnce(t *testing.T) {
	notes := fakeNPM(t, "mkdir node_modules && cp package.json node_modules/copy")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			programs, err := agenthost.Install(t.Context(), io.Discard)
			if err != nil {
				t.Error(err)
				return
			}
			if got, err := os.ReadFile(filepath.Join(string(programs), "node_modules", "copy")); !bytes.Equal(got, agenthost.Manifest) {
				t.Errorf("found %q (%v), expected what package.json says", got, err)
			}
		})
	}
	all.Wait()
	ran, err := os.ReadFile(notes)
	if err != nil || strings.Count(string(ran), "ran ci --ignore-scripts") != 1 {
		t.Errorf("found %q (%v), expected one npm ci", ran, err)
	}
}

// TestInstallFails: a failure says what npm said, and leaves nothing that counts as installed.
func TestInstallFails(t *testing.T) {
	fakeNPM(t, "mkdir node_modules; echo no such package >&2; exit 1")
	for range 2 {
		if programs, err := agenthost.Install(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), "no such package") {
			t.Errorf("found %s and %v, expected what npm said", programs, err)
		}
	}
}

func TestInstallWithoutNPM(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv(agenthost.CacheVariable, t.TempDir())
	if _, err := agenthost.Install(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), "found no npm on the PATH") {
		t.Errorf("found %v", err)
	}
}
