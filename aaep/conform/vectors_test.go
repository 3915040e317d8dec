package conform_test

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/aaep/conform"
)

var update = flag.Bool("update", false, "write the vectors and raise the floor")

//go:generate go test . -run TestVectorsAreFresh -update

// all is every vector as it is written here.
func all() []source {
	var rowVectors []source
	for _, r := range readRows() {
		rowVectors = append(rowVectors, r.vectors()...)
	}
	return join(rowVectors, envelopeVectors(), payloadVectors(), orderVectors(), consentVectors(), answerVectors(), manifestVectors(), signedVectors())
}

// file is the text of a vector's file: one member on a line, one message on a line.
func file(v conform.Vector) ([]byte, error) {
	raw, err := json.Marshal(v, json.OmitZeroStructFields(true))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	decoder := jsontext.NewDecoder(bytes.NewReader(raw))
	if _, err := decoder.ReadToken(); err != nil {
		return nil, err
	}
	separator := "{\n  "
	for decoder.PeekKind() != jsontext.KindEndObject {
		name, err := decoder.ReadValue()
		if err != nil {
			return nil, err
		}
		name = bytes.Clone(name)
		value, err := decoder.ReadValue()
		if err != nil {
			return nil, err
		}
		if string(name) == `"stream"` {
			value = lines(v.Stream)
		}
		out.WriteString(separator + string(name) + ": " + string(value))
		separator = ",\n  "
	}
	out.WriteString("\n}\n")
	return out.Bytes(), nil
}

func lines(stream []jsontext.Value) jsontext.Value {
	var b strings.Builder
	for i, m := range stream {
		b.WriteString([]string{"[\n    ", ",\n    "}[min(i, 1)] + string(m))
	}
	return jsontext.Value(b.String() + "\n  ]")
}

// TestVectorsAreFresh: the files are those that the tables here make, and no others.
func TestVectorsAreFresh(t *testing.T) {
	t.Parallel()
	want := map[string][]byte{}
	for _, s := range all() {
		name := filepath.Join("vectors", s.Area(), s.ID+".json")
		if _, twice := want[name]; twice {
			t.Errorf("two vectors are called %s", s.ID)
		}
		text, err := file(s.Vector)
		if err != nil {
			t.Fatalf("%s: %v", s.ID, err)
		}
		want[name] = text
	}
	if t.Failed() {
		return
	}
	for _, name := range vectorFiles(t) {
		if _, ok := want[name]; !ok {
			if *update {
				remove(t, name)
				continue
			}
			t.Errorf("%s is made by no table; run go generate ./aaep/conform", name)
		}
	}
	for name, text := range want {
		have, err := os.ReadFile(name)
		switch {
		case err == nil && bytes.Equal(have, text):
		case *update:
			save(t, name, text)
		default:
			t.Errorf("%s is not what the tables make; run go generate ./aaep/conform", name)
		}
	}
}

func vectorFiles(t *testing.T) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir("vectors", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && filepath.Ext(name) == ".json" && filepath.Dir(name) != "vectors" {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func remove(t *testing.T, name string) {
	t.Helper()
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
}

func save(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestReference runs every vector. Those of pending.json must fail, so that the list
// shrinks; all others must hold.
func TestReference(t *testing.T) {
	t.Parallel()
	vectors, err := conform.Vectors()
	if err != nil {
		t.Fatal(err)
	}
	pending, err := conform.Pending()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		out := v.Run(conform.Reference)
		_, waits := pending[v.ID]
		switch {
		case !out.Passed() && !waits:
			t.Errorf("%s: %s", v.ID, out.Problem)
		case out.Passed() && waits:
			t.Errorf("%s holds now: take it out of pending.json", v.ID)
		}
	}
	for id := range pending {
		if !slices.ContainsFunc(vectors, func(v conform.Vector) bool { return v.ID == id }) {
			t.Errorf("pending.json names %s, which is not a vector", id)
		}
	}
}
