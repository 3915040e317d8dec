package web_test

import (
	"compress/gzip"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
)

// unpacked is what a packed answer says.
func unpacked(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	if w.Code != 200 || w.Header().Get("Content-Encoding") != "gzip" {
		t.Fatalf("%d, %v", w.Code, w.Header())
	}
	packed := w.Body.Len()
	r, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if packed >= len(text) {
		t.Errorf("%d bytes are sent as %d", len(text), packed)
	}
	return string(text)
}

// TestPacked: a browser that takes gzip gets pages, style and scripts so, with the same content; one that does not gets them as they are.
// Images, the API and streams are never packed.
func TestPacked(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.room.begin("sess_1", "tidy")
	get := func(path string, headers ...string) *httptest.ResponseRecorder {
		return s.do("GET", path, "@ada", "", append([]string{"Accept", "text/html"}, headers...)...)
	}
	s.login("ada")
	for _, path := range []string{"/sessions", "/login", "/page/page.js", "/page/mark.svg"} {
		plain := get(path)
		for range 2 { // the second time with a writer that was used before
			if text := unpacked(t, get(path, "Accept-Encoding", "br, GZIP;q=0.5")); text != plain.Body.String() {
				t.Errorf("%s is another one:\n%s", path, text)
			}
		}
		if !strings.Contains(strings.Join(plain.Header().Values("Vary"), ","), "Accept-Encoding") {
			t.Errorf("%s: caches are not told: %v", path, plain.Header())
		}
		for _, takes := range []string{"", "br, deflate", "gzip;q=0", "gzip; q=0.0", "x-gzipped"} {
			if w := get(path, "Accept-Encoding", takes); w.Header().Get("Content-Encoding") != "" || w.Body.String() != plain.Body.String() {
				t.Errorf("%s for %q: %v", path, takes, w.Header())
			}
		}
	}
	for _, path := range []string{"/page/icon-192.png", "/api/v1/sessions", "/sessions/sess_1/text"} {
		if w := get(path, "Accept-Encoding", "gzip"); w.Code != 200 || w.Header().Get("Content-Encoding") != "" {
			t.Errorf("%s: %d %v", path, w.Code, w.Header())
		}
	}
}

// TestPackedTag: a packed file has a tag of its own, which is answered like the other.
func TestPackedTag(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	plain := s.do("GET", "/page/page.js", "", "").Header().Get("ETag")
	packed := s.do("GET", "/page/page.js", "", "", "Accept-Encoding", "gzip").Header().Get("ETag")
	if plain == packed || packed == "" {
		t.Fatalf("both have the tag %s", packed)
	}
	again := s.do("GET", "/page/page.js", "", "", "Accept-Encoding", "gzip", "If-None-Match", packed)
	if again.Code != 304 || again.Body.Len() != 0 || again.Header().Get("Content-Encoding") != "" {
		t.Errorf("%d %v", again.Code, again.Header())
	}
	if other := s.do("GET", "/page/page.js", "", "", "If-None-Match", packed); other.Code != 200 {
		t.Errorf("who takes no gzip is told that the packed one is theirs: %d", other.Code)
	}
}
