package page_test

import (
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

// TestOutputInLanguages: each part of a text has the language and the direction that its chunk names, while it is written
// and when it is laid out (I18N-23, I18N-27). A text in one language has them once.
func TestOutputInLanguages(t *testing.T) {
	t.Parallel()
	written := []aaep.OutputStreaming{
		{Chunk: "Uno. ", Language: "es"}, {Chunk: "Dos. ", Position: 5, Language: "es"}, {Chunk: "ثلاثة. ", Position: 10, Language: "ar"}, {Chunk: "Four.", Position: 17},
	}
	for name, tt := range map[string]struct {
		chunks []aaep.OutputStreaming
		want   string
	}{
		"one language": {written[:2], `lang="es" dir="ltr">Uno. Dos. </div>`},
		"being written": {
			written,
			`lang="es" dir="ltr"><span lang="es" dir="ltr">Uno. Dos. </span><span lang="ar" dir="rtl">ثلاثة. </span><span lang="" dir="auto">Four.</span></div>`,
		},
		"laid out": {
			append(written[:4:4], aaep.OutputStreaming{Position: 22, Language: "fr", Complete: true}),
			`lang="es" dir="ltr"><div lang="es" dir="ltr"><p dir="auto">Uno. Dos.</p></div><div lang="ar" dir="rtl"><p dir="auto">ثلاثة.</p></div>` +
				`<div lang="" dir="auto"><p dir="auto">Four.</p></div></div>`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assets, err := page.Load()
			if err != nil {
				t.Fatal(err)
			}
			var r page.Record
			for i, p := range tt.chunks {
				r.Add(encode(t, p, ""), int64(i+1))
			}
			body, err := assets.In("").Render("session", r.View(page.Session{}, page.Tree{}, page.Selection{}, time.UTC))
			if err != nil || !strings.Contains(string(body), tt.want) {
				t.Errorf("%v: expected %s in\n%s", err, tt.want, body)
			}
		})
	}
}
