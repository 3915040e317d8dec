package pacing

import (
	"strings"

	"golang.org/x/text/language"
)

// chooseLanguages returns those of the asked tags that some offered language serves,
// spelled as they were asked (HS-29, C-50), and the offered tag that serves the first
// of them.
func chooseLanguages(asked, offered []string) (served []string, first string) {
	for _, tag := range asked {
		version := serve(tag, offered)
		if version == "" {
			continue
		}
		if served == nil {
			first = version
		}
		served = append(served, tag)
	}
	return served, first
}

// serve returns the offered tag for one asked tag, or "" (C-100): the same tag; else
// one that the asked tag narrows, the closest first (I18N-11, I18N-12); else one that
// narrows the asked tag (I18N-09), first of all in the script that it is likely written
// in. Letter case does not matter. No tag that names a script serves another script.
func serve(asked string, offered []string) string {
	for broader := asked; broader != ""; broader = parent(broader) {
		for _, version := range offered {
			if strings.EqualFold(version, broader) {
				return version
			}
		}
	}
	narrower := ""
	for _, version := range offered {
		if len(version) <= len(asked) || version[len(asked)] != '-' || !strings.EqualFold(version[:len(asked)], asked) {
			continue
		}
		if sameScript(version, asked) {
			return version
		}
		if narrower == "" {
			narrower = version
		}
	}
	return narrower
}

// parent drops the last part of a tag.
func parent(tag string) string {
	i := strings.LastIndexByte(tag, '-')
	return tag[:max(i, 0)]
}

// sameScript reports whether two tags are written in one script, said or likely. Tags
// that are not registered have none that could differ.
func sameScript(a, b string) bool {
	x, err1 := language.Parse(a)
	y, err2 := language.Parse(b)
	if err1 != nil || err2 != nil {
		return true
	}
	first, _ := x.Script()
	second, _ := y.Script()
	return first == second
}
