package utp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/earshot-dev/earshot/utp"
)

const fiveMB = 5 << 20

// large are arguments of about 5 MB, some of them made to be slow.
var large = map[string]func() string{
	"sets": func() string {
		return filled(`{"root":"/home/ada","sets":[`, func(i int) string {
			return fmt.Sprintf(`{"sha256":"%064x","size":%d,"keep":"some/folder/%d.jpg","delete":["other/folder/%d.jpg"]}`, i, i*137, i, i)
		}, `]}`)
	},
	"string":  func() string { return `{"a":"` + strings.Repeat("x", fiveMB) + `"}` },
	"escapes": func() string { return `{"a":"` + strings.Repeat(`\u00e9`, fiveMB/6) + `"}` },
	"names": func() string {
		return filled(`{`, func(i int) string { return fmt.Sprintf(`"n%d":%d`, 1_000_000-i, i) }, `}`)
	},
	"floats": func() string {
		return filled(`{"a":[`, func(i int) string { return fmt.Sprintf("%d.1234567890123", i%10) }, `]}`)
	},
	"exponents":   func() string { return filled(`{"a":[`, func(i int) string { return fmt.Sprintf("1e%d", i%300) }, `]}`) },
	"long number": func() string { return `{"a":1.` + strings.Repeat("0", fiveMB) + `}` },
	"deep": func() string { // every level unsorted around one large leaf
		return strings.Repeat(`{"b":1,"a":`, utp.MaxDepth) + `"` + strings.Repeat("x", fiveMB) + `"` + strings.Repeat(`}`, utp.MaxDepth)
	},
	"too deep": func() string { return strings.Repeat(`{"b":1,"a":`, fiveMB/11) },
	"brackets": func() string { return `{"a":[` + strings.Repeat(`[],`, fiveMB/3) + `[]]}` },
}

func filled(head string, item func(int) string, tail string) string {
	var b strings.Builder
	b.WriteString(head)
	for i := 0; b.Len() < fiveMB; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(item(i))
	}
	b.WriteString(tail)
	return b.String()
}

func BenchmarkCanonical(b *testing.B) {
	for name, text := range large {
		raw := []byte(text())
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				_, _ = utp.Canonical(raw)
			}
		})
	}
}

func BenchmarkDecodeToolCall(b *testing.B) {
	f := callCard()
	f.Arguments = []byte(large["sets"]())
	card, err := utp.NewToolCall(f)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(f.Arguments)))
	for b.Loop() {
		if _, err := utp.DecodeToolCall(card); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSetMember(b *testing.B) {
	raw := []byte(large["sets"]())
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		if _, err := utp.SetMember(raw, "key", []byte(`{"$secret":"r"}`)); err != nil {
			b.Fatal(err)
		}
	}
}
