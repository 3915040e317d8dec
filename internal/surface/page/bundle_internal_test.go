package page

import (
	"strings"
	"testing"
)

// TestBundleRefuses: a script that would not run in a bundle is an error when the program starts, and not in a browser.
func TestBundleRefuses(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct{ source, want string }{
		"a part that is not there":   {"import \"./none.js\";\n", "page.js imports none.js"},
		"a circle":                   {"import \"./other.js\";\n", "page.js, which imports other.js imports page.js"},
		"an import of another form":  {"import \"./good.js\";\nimport * as all from \"./good.js\";\n", "import * as all"},
		"an export of another form":  {"import \"./good.js\";\nexport default 1;\n", "export default 1;"},
		"an import on several lines": {"import \"./good.js\";\nimport {\n  a,\n} from \"./good.js\";\n", "import {"},
	} {
		_, err := bundled(map[string][]byte{
			"page.js": []byte(c.source), "good.js": []byte("export const a = 1;\n"), "other.js": []byte("import \"./page.js\";\n"),
		}, "page.js")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestBundleKeepsNames: parts can have the same names, and export some of them.
func TestBundleKeepsNames(t *testing.T) {
	t.Parallel()
	text, err := bundled(map[string][]byte{
		"page.js": []byte("import { b, c } from \"./b.js\";\nimport \"./a.js\";\nlog(b, c);\n"),
		"b.js":    []byte("import { a } from \"./a.js\";\nconst kept = a;\nexport const b = kept;\nexport async function c() {}\n"),
		"a.js":    []byte("const kept = (await import(`./x.js`)).default;\nexport function a() { return kept; }\n"),
	}, "page.js")
	want := "const $a = await (async () => {\nconst kept = (await import(`./x.js`)).default;\nfunction a() { return kept; }\nreturn { a };\n})();\n" +
		"const $b = (() => {\nconst { a } = $a;\nconst kept = a;\nconst b = kept;\nasync function c() {}\nreturn { b, c };\n})();\n" +
		"(() => {\nconst { b, c } = $b;\n\nlog(b, c);\n})();\n"
	if err != nil || string(text) != want {
		t.Errorf("it is\n%s\nwant\n%s\n%v", text, want, err)
	}
}
