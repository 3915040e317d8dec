package web

import (
	"testing"

	"github.com/earshot-dev/earshot/internal/surface/page"
)

// TestMixed: the words of others stand in elements of their own, whatever marks they bring along;
// nothing of them is markup.
func TestMixed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Plain.":                           "Plain.",
		"":                                 "",
		"Delete \u2068a.txt\u2069 now.":    `Delete <bdi lang="">a.txt</bdi> now.`,
		"\u2068a\u2069\u2068b\u2069":       `<bdi lang="">a</bdi><bdi lang="">b</bdi>`,
		"\u2068a \u2068b\u2069 c\u2069 d":  `<bdi lang="">a b c</bdi> d`,
		"\u2068never closed":               `<bdi lang="">never closed</bdi>`,
		"\u2069never opened\u2069":         "never opened",
		"<b>&\u2068</bdi><script>\u2069\"": `&lt;b&gt;&amp;<bdi lang="">&lt;/bdi&gt;&lt;script&gt;</bdi>&#34;`,
	} {
		if got := string(page.Mixed(text)); got != want {
			t.Errorf("%q: %s; want %s", text, got, want)
		}
	}
}

// TestMixedIn: what is quoted of the agent is in the language that the agent has said, and nothing else is.
func TestMixedIn(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ language, text, want string }{
		{"es", "It asks: “¿Cuál?” End of “a” \u2068b\u2069.", `It asks: “<bdi lang="es">¿Cuál?</bdi>” End of “<bdi lang="es">a</bdi>” <bdi lang="">b</bdi>.`},
		{"ar", "It says: “\u2068أي ملف؟\u2069”.", `It says: “<bdi lang="ar">أي ملف؟</bdi>”.`},
		{"", "It asks: “¿Cuál?”", `It asks: “¿Cuál?”`},
		{"", "It asks: “\u2068أي\u2069”", `It asks: “<bdi lang="">أي</bdi>”`},
		{"es", "“never \u2068closed", `“<bdi lang="es">never closed</bdi>`},
		{"es", "\u2068a “b” c\u2069 “d”", `<bdi lang="">a “b” c</bdi> “<bdi lang="es">d</bdi>”`},
		{`"><script>`, "“<b>”", `“<bdi lang="&#34;&gt;&lt;script&gt;">&lt;b&gt;</bdi>”`},
	} {
		if got := string(page.MixedIn(row.language, row.text)); got != row.want {
			t.Errorf("%q: %s; want %s", row.text, got, row.want)
		}
	}
}
