package api_test

import (
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/api"
)

// TestCheckLang: a tag names a language that is known, in the form of BCP 47 (I18N-03).
func TestCheckLang(t *testing.T) {
	t.Parallel()
	for _, tag := range []string{"", "es", "yo", "en-US", "pt-BR", "zh-Hant", "zh-Hant-TW", "es-419", "ar-u-nu-latn", "x-house", "und", "mul", "tlh", "i-klingon"} {
		if err := api.CheckLang(tag); err != nil {
			t.Errorf("%q: %v", tag, err)
		}
	}
	for _, tag := range []string{"english", "es_ES", "jp", "e", " es", "es-", "-es", "es-xx-yy", "root", "<b>", "es\n", "en-x", "es-" + strings.Repeat("a", 80), "ar-u-" + strings.Repeat("nu-latn-", 10) + "ca-gregory"} {
		if err := api.CheckLang(tag); err == nil || !strings.Contains(err.Error(), "not the tag of a language") {
			t.Errorf("%q: %v", tag, err)
		}
	}
}
