package tidy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/earshot-dev/earshot/agents/tidy"
	"github.com/earshot-dev/earshot/agents/tidy/files"
)

// grow makes folders of 20 files, a tenth of them equal to another one, sizes spread so that some meet by chance.
func grow(b *testing.B, root string, count int) {
	b.Helper()
	for n := range count {
		dir := filepath.Join(root, fmt.Sprintf("g%02d/folder%04d", n/20%50, n/20))
		if n%20 == 0 {
			must(b, os.MkdirAll(dir, 0o750))
		}
		of := n
		if n%10 == 9 {
			of = n - 1 // equal to its neighbour
		}
		content := make([]byte, 16+of*7%4001)
		copy(content, fmt.Sprint(of))
		must(b, os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%06d.dat", n)), content, 0o600))
	}
}

// BenchmarkTurn lists, compares and plans with the real operations, through JSON as on the wire, up to the question.
func BenchmarkTurn(b *testing.B) {
	for _, count := range []int{1_000, 100_000} {
		b.Run(fmt.Sprintf("files=%d", count), func(b *testing.B) {
			root, err := filepath.EvalSymlinks(b.TempDir())
			must(b, err)
			grow(b, root, count)
			allowed, err := files.Allow(root)
			must(b, err)
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				calls, duplicates, heap := toTheQuestion(b, allowed, root)
				b.ReportMetric(float64(calls), "calls")
				b.ReportMetric(float64(duplicates), "duplicates")
				b.ReportMetric(float64(heap)/(1<<20), "live-MiB")
			}
		})
	}
}

func toTheQuestion(b *testing.B, allowed *files.Allowed, root string) (calls, duplicates int, heap uint64) {
	b.Helper()
	service, err := files.New(files.Options{Allowed: allowed, Journal: b.TempDir(), HomeTrash: filepath.Join(b.TempDir(), "Trash")})
	must(b, err)
	w := &world{t: b, root: root, service: service}
	p := tidy.New(tidy.Args{Root: root})
	for {
		move := p.Next()
		if move.Answer != nil {
			b.Fatalf("ended early: %v", move.Answer.Lines)
		}
		call := move.Calls[0]
		calls++
		if args, ok := call.Args.(files.DeleteArgs); ok {
			for _, set := range args.Sets {
				duplicates += len(set.Delete)
			}
			var stats runtime.MemStats
			b.StopTimer()
			runtime.GC()
			runtime.ReadMemStats(&stats)
			b.StartTimer()
			runtime.KeepAlive(p)
			return calls, duplicates, stats.HeapAlloc
		}
		p.Observe(call, w.carry(call))
	}
}

// BenchmarkDelete removes a hundred duplicates, journal and disk included.
func BenchmarkDelete(b *testing.B) {
	for range b.N {
		b.StopTimer()
		root, err := filepath.EvalSymlinks(b.TempDir())
		must(b, err)
		grow(b, root, 1000)
		allowed, err := files.Allow(root)
		must(b, err)
		service, err := files.New(files.Options{Allowed: allowed, Journal: b.TempDir()})
		must(b, err)
		w := &world{t: b, root: root, service: service}
		p := tidy.New(tidy.Args{Root: root})
		for p.Next().Calls[0].Tool != tidy.ToolDelete {
			p.Observe(p.Next().Calls[0], w.carry(p.Next().Calls[0]))
		}
		args, _ := p.Next().Calls[0].Args.(files.DeleteArgs)
		b.StartTimer()
		got, err := service.Delete(context.Background(), args, files.CallOptions{Call: "tc_1"})
		must(b, err)
		if data, err := json.Marshal(got); err != nil || got.Deleted != 100 {
			b.Fatalf("%s, %v", data, err)
		}
	}
}
