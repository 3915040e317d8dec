package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/internal/toolfile"
)

// TestServicesExample: the complete example of docs/services.md is one.
func TestServicesExample(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "services.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)`([a-z.]+\\.yaml)`[^`]*```yaml\n(.*?)```").FindAllSubmatch(doc, -1)
	if len(blocks) != 2 {
		t.Fatalf("%d blocks", len(blocks))
	}
	dir := t.TempDir()
	for _, folder := range []string{"outbox", "bin"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "bin", "send-files"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, block := range blocks {
		text := strings.ReplaceAll(string(block[2]), "/srv/", dir+"/")
		if err := os.WriteFile(filepath.Join(dir, string(block[1])), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	services, err := toolfile.Read(filepath.Join(dir, "tools.yaml"), toolfile.Options{LookupEnv: officeMain().LookupEnv})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range services {
		got = append(got, c.String())
	}
	want := "Service outbox (command): outbox.list (read), outbox.sort (read), outbox.send (irreversible)\n" +
		"Service tickets (http): tickets.getTicket (read), tickets.replace (idempotent), tickets.health (read), tickets.close (irreversible)"
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("the example is\n%s", text)
	}
}
