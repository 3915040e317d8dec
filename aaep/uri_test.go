package aaep_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/earshot-dev/earshot/aaep"
)

// TestURIs holds what runs against the expression that is exported, on texts made of
// the pieces of URIs.
func TestURIs(t *testing.T) {
	t.Parallel()
	schema, err := aaep.Schema(aaep.TypeSessionCompleted)
	if err != nil {
		t.Fatal(err)
	}
	pattern, _ := aaep.Read(schema).Text("properties", "result_uri", "pattern")
	expression := regexp.MustCompile(pattern)
	pieces := strings.Fields(`a Z 9 - . _ ~ : : / // ? # [ ] @ ! $ & ' ( ) * + , ; = % %2 %41 %zz v1. :: ::1 [::1] [v7.x] :80 :8x é http: urn: mailto: x://h < " \ ^ { | }`)
	random := rand.New(rand.NewPCG(1, 2))
	legal := 0
	for range 20_000 {
		var b strings.Builder
		if random.IntN(2) == 0 {
			b.WriteString("http:")
		}
		for range random.IntN(9) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		text := b.String()
		if got, want := isURI(t, text), expression.MatchString(text); got != want {
			t.Errorf("%q: judged %t, the expression says %t", text, got, want)
		} else if got {
			legal++
		}
	}
	if legal < 1000 {
		t.Errorf("only %d are legal", legal)
	}
	for text, want := range map[string]bool{
		"https://example.org/a?b=c#d": true, "urn:x:y": true, "x:": true, "http://[2001:db8::1]:80/": true, "http://u:p@h:1/": true, "file:///tmp": true, "a://b?c/d?e": true,
		"x:#a#b": false, "http://[::1": false, "http://h]/": false, "http://h:8x/": false, "http://a@b@c/": false, "//h/": false, "1x:y": false, "x:a b": false, "http://é/": false,
	} {
		if got := isURI(t, text); got != want {
			t.Errorf("%q: judged %t", text, got)
		}
	}
}

// isURI reports whether a text passes where a URI is wanted.
func isURI(t *testing.T, text string) bool {
	t.Helper()
	value, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	raw := `{"type":"subscription.rejected","reason_code":"unknown","reason_message":"No.","alternative_manifest_uri":` + string(value) + `}`
	return len(aaep.Errors(aaep.Validate([]byte(raw), aaep.ModeProducer))) == 0
}
