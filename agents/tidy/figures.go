package tidy

import (
	"strconv"
	"strings"
	"unicode"
)

// plural counts things: "1 file", "1,200 files".
func plural(count int, noun string) string {
	if count != 1 {
		noun += "s"
	}
	return grouped(int64(count)) + " " + noun
}

// grouped writes a number with a comma between thousands.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// sized writes an amount of bytes exactly, and rounded where that is easier to take in: "1.2 MB (1,234,567 bytes)".
func sized(n int64) string {
	exact := grouped(n) + " bytes"
	if n == 1 {
		exact = "1 byte"
	}
	if n < 10_000 {
		return exact
	}
	amount, unit := float64(n), 0
	units := []string{"bytes", "kB", "MB", "GB", "TB", "PB", "EB"}
	for amount >= 999.95 {
		amount /= 1000
		unit++
	}
	return strconv.FormatFloat(amount, 'f', 1, 64) + " " + units[unit] + " (" + exact + ")"
}

// quoted shows a path so that every byte of it can be told.
func quoted(path string) string { return strconv.Quote(path) }

// named shows a path as it is, unless something in it would break the line or steer a terminal.
func named(path string) string {
	if oneLine(path) != path {
		return quoted(path)
	}
	return path
}

// oneLine keeps a foreign text from breaking a line or steering a terminal.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text)
}
