package api

import (
	"fmt"
	"strings"

	"golang.org/x/text/language"
)

// maxLang is the most characters of a language tag.
const maxLang = 64

// CheckLang refuses what is not a BCP 47 tag of a known language, such as es, pt-BR or zh-Hant. An empty tag says that the
// language of a text is not known, and is allowed.
func CheckLang(tag string) error {
	if tag == "" {
		return nil
	}
	_, err := language.Parse(tag)
	primary, _, _ := strings.Cut(tag, "-")
	if err != nil || len(tag) > maxLang || strings.Contains(tag, "_") || len(primary) > len("spa") {
		return fmt.Errorf("lang is %.64q, which is not the tag of a language; expected one such as es, pt-BR or ar, or none", tag)
	}
	return nil
}
