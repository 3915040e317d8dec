package audit_test

import (
	"fmt"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/audit"
)

// A ledger hands out its chain; who reads it judges.
func Example() {
	receipt := api.AuditReceipt{
		ReceiptDetail: api.ReceiptDetail{Call: "tc_1", Question: 1, Decision: "accept", By: "ada", At: time.UnixMicro(5)},
		Session:       "sess_1", Salt: "9f86d081884c7d659a2feaa0c55ad015",
	}
	entry := api.AuditEntry{N: 1, Kind: audit.Answer, At: time.UnixMicro(6), Commitment: audit.Commitment(receipt)}
	entry.Link = audit.Link("", entry)

	receipt.Decision = "reject" // somebody has altered it since
	entry.Receipt = &receipt

	v := audit.Verifier{Found: func(f audit.Finding) { fmt.Printf("Entry %d: %s.\n", f.N, f.Found) }}
	v.Next(entry)
	report := v.End(api.AuditUnchained{})
	fmt.Println(report.Entries, report.Findings, report.Head.N)
	// Output:
	// Entry 1: a receipt of the call tc_1 that is not the one that was answered.
	// 1 1 1
}
