package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/datadir"
)

// configuration writes a file of settings beside the scene.
func (s *scene) configuration(text string) string {
	s.t.Helper()
	file := filepath.Join(filepath.Dir(s.data), "earshot.yaml")
	must(s.t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// TestServerConfigured: a server works with what a file says, relative to that file, and
// doctor says which one it has read.
func TestServerConfigured(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	file := s.configuration("root: photos\nhttp: 127.0.0.1:0\n")
	contains(t, s.does(0, "doctor", "--config", file), "ok: configuration: "+file+" was read; it sets root, http.")
	contains(t, s.does(0, "doctor"), "ok: configuration: No configuration file is used")
	server := start(t, options{verb: "up", data: s.data, args: []string{"--config", file}, nobody: true})
	server.hears("Allowed folder: " + s.folder)
	server.hears("Control C ends it")
	server.await("Configuration: " + file)
	run := s.run("--json")
	run.await(asked)
	s.does(0, "reply", "reject")
	run.ends(3)
	server.signal(os.Interrupt)
	server.ends(0)
}

// TestServerConfiguredByVariables: the variables count where no flag does.
func TestServerConfiguredByVariables(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	file := s.configuration("root: absent\nhttp: 127.0.0.1:0\n")
	server := start(t, options{
		verb: "up", nobody: true, env: []string{"EARSHOT_CONFIG=" + file, "EARSHOT_ROOT=" + s.folder, "EARSHOT_DATA=" + s.data},
	})
	server.hears("Allowed folder: " + s.folder)
	server.hears("data in " + s.data)
}

// TestServerMisconfigured: a setting that is none keeps it from starting, with what was meant.
func TestServerMisconfigured(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	file := s.configuration("roots: photos\n")
	contains(t, s.does(2, "up", "--config", file), "error: the configuration "+file+`: line 1: roots: unknown name hint: did you mean root?`)
	contains(t, s.does(1, "doctor", "--config", file), `problem: configuration: the configuration `+file+`: line 1: roots: unknown name. hint: did you mean root?`)
	contains(t, s.does(2, "up", "--config", ""), "the configuration cannot be read")
	key := filepath.Join(s.data, "key")
	must(t, os.MkdirAll(s.data, 0o700))
	must(t, os.WriteFile(key, make([]byte, datadir.KeySize), 0o644))
	must(t, os.Chmod(key, 0o644))
	s.up().await("Key: " + key + " can be read by others, who can read the secrets in the ledger with it. Run `chmod 600 " + key + "`.")
	misspelt := start(t, options{verb: "sessions", data: s.data, nobody: true, env: []string{"EARSHOT_DTAA=/tmp", "EARSHOT_DATA=" + s.data}})
	misspelt.ends(0)
	contains(t, misspelt.prompt.String(), "warning: EARSHOT_DTAA is not a setting, and does nothing; did you mean EARSHOT_DATA?")
	if strings.Count(misspelt.prompt.String(), "warning: ") != 1 {
		t.Errorf("warned of others: %s", misspelt.prompt.String())
	}
}
