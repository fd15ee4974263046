/* formats/records/kernel_record: kernel records other than samples, with and without a trailer. */
#include <stdlib.h>
#include <sys/mman.h>

#include "formats/records/attr.h"
#include "formats/records/sample.h"
#include "formats/records/sample_type.h"
#include "tests/unit/kernel_bytes.h"
#include "tests/unit/unit.h"

static const struct mt_attr with_trailer = {
	.sample_type = MT_SAMPLE_IP | MT_SAMPLE_TRAILER,
	.flags = 1u << MT_ATTR_SAMPLE_ID_ALL,
};
static const struct mt_attr without_trailer = {.sample_type = MT_SAMPLE_IP | MT_SAMPLE_TRAILER};

static void put_trailer(struct kernel_bytes *k)
{
	put32(k, 101); /* pid, tid */
	put32(k, 102);
	put64(k, 103); /* time */
	put64(k, 104); /* id */
	put64(k, 105); /* stream id */
	put32(k, 6);   /* cpu */
	put32(k, 0);
	put64(k, 104); /* identifier */
}

static void check_trailer(const struct mt_kernel_record *r)
{
	MT_CHECK_EQ(r->id_pid, 101);
	MT_CHECK_EQ(r->id_tid, 102);
	MT_CHECK_EQ(r->time, 103);
	MT_CHECK_EQ(r->id, 104);
	MT_CHECK_EQ(r->cpu, 6);
}

/* Decodes without a trailer and with one, and at every length, which must not crash. */
static struct mt_kernel_record decode(struct kernel_bytes k)
{
	struct mt_kernel_record plain = {0}, r = {0};

	MT_CHECK(mt_kernel_record_decode(&without_trailer, k.bytes, k.size, &plain));
	MT_CHECK_EQ(plain.id_pid, -1);
	MT_CHECK_EQ(plain.time, 0);
	MT_CHECK_EQ(plain.cpu, UINT32_MAX);
	put_trailer(&k);
	MT_CHECK(mt_kernel_record_decode(&with_trailer, k.bytes, k.size, &r));
	check_trailer(&r);
	MT_CHECK_EQ(r.pid, plain.pid);
	MT_CHECK(!plain.name || !strcmp(r.name, plain.name));
	for (size_t size = 0; size < k.size; size++) {
		uint8_t *copy = aligned_alloc(8, mt_align8(size + 1));
		struct mt_kernel_record ignored;

		memcpy(copy, k.bytes, size);
		mt_kernel_record_decode(&with_trailer, copy, size, &ignored);
		mt_kernel_record_decode(&without_trailer, copy, size, &ignored);
		free(copy);
	}
	return plain;
}

static void put_range(struct kernel_bytes *k)
{
	put32(k, 11);
	put32(k, 12);
	put64(k, 0x1000);
	put64(k, 0x2000);
	put64(k, 0x3000);
}

static void check_range(const struct mt_kernel_record *r)
{
	MT_CHECK_EQ(r->pid, 11);
	MT_CHECK_EQ(r->tid, 12);
	MT_CHECK_EQ(r->start, 0x1000);
	MT_CHECK_EQ(r->length, 0x2000);
	MT_CHECK_EQ(r->offset, 0x3000);
}

MT_TEST(mmap_takes_its_protection_from_misc)
{
	struct kernel_bytes k = kernel_begin(MT_KERNEL_MMAP, MT_CPUMODE_USER);
	struct mt_kernel_record r;

	put_range(&k);
	put_name(&k, "/lib/libc.so.6");
	r = decode(k);
	MT_CHECK_EQ(r.type, MT_KERNEL_MMAP);
	check_range(&r);
	MT_CHECK_STR(r.name, "/lib/libc.so.6");
	MT_CHECK_EQ(r.prot, PROT_EXEC);
	k.bytes[5] |= MT_MISC_MMAP_DATA >> 8;
	MT_CHECK_EQ(decode(k).prot, PROT_READ);
}

MT_TEST(mmap2_with_an_inode)
{
	struct kernel_bytes k = kernel_begin(MT_KERNEL_MMAP2, MT_CPUMODE_USER);
	struct mt_kernel_record r;

	put_range(&k);
	put32(&k, 8);
	put32(&k, 1);
	put64(&k, 4711);
	put64(&k, 3);
	put32(&k, PROT_READ | PROT_EXEC);
	put32(&k, MAP_PRIVATE);
	put_name(&k, "//anon");
	r = decode(k);
	check_range(&r);
	MT_CHECK_EQ(r.major, 8);
	MT_CHECK_EQ(r.minor, 1);
	MT_CHECK_EQ(r.inode, 4711);
	MT_CHECK_EQ(r.inode_generation, 3);
	MT_CHECK_EQ(r.prot, PROT_READ | PROT_EXEC);
	MT_CHECK_EQ(r.flags, MAP_PRIVATE);
	MT_CHECK(!r.build_id);
	MT_CHECK_STR(r.name, "//anon");
}

/* As in records of Linux 4.4 for mappings without a file. */
static uint32_t unreported_prot(uint16_t misc, const char *name)
{
	struct kernel_bytes k = kernel_begin(MT_KERNEL_MMAP2, MT_CPUMODE_USER | misc);

	put_range(&k);
	for (int i = 0; i < 4; i++)
		put64(&k, 0);
	put_name(&k, name);
	return decode(k).prot;
}

MT_TEST(a_protection_that_is_not_reported_is_guessed)
{
	MT_CHECK_EQ(unreported_prot(MT_MISC_MMAP_DATA, "[heap]"), PROT_READ | PROT_WRITE);
	MT_CHECK_EQ(unreported_prot(MT_MISC_MMAP_DATA, "[vvar]"), PROT_READ);
	MT_CHECK_EQ(unreported_prot(0, "[vdso]"), PROT_READ | PROT_EXEC);
}

static struct kernel_bytes mmap2_with_build_id(uint8_t size)
{
	struct kernel_bytes k =
		kernel_begin(MT_KERNEL_MMAP2, MT_CPUMODE_USER | MT_MISC_MMAP_BUILD_ID);

	put_range(&k);
	put8(&k, size);
	put8(&k, 0);
	put16(&k, 0);
	put_bytes(&k, "0123456789abcdefghij", 20);
	put32(&k, PROT_EXEC);
	put32(&k, MAP_SHARED);
	put_name(&k, "/bin/x");
	return k;
}

MT_TEST(mmap2_with_a_build_id)
{
	struct kernel_bytes k = mmap2_with_build_id(16);
	struct mt_kernel_record r = decode(k);

	check_range(&r);
	MT_CHECK_EQ(r.build_id_size, 16);
	MT_CHECK(!memcmp(r.build_id, "0123456789abcdef", 16));
	MT_CHECK_EQ(r.inode, 0);
	MT_CHECK_EQ(r.prot, PROT_EXEC);
	MT_CHECK_EQ(r.flags, MAP_SHARED);
	MT_CHECK_STR(r.name, "/bin/x");
	k = mmap2_with_build_id(0);
	MT_CHECK(!decode(k).build_id);
	k = mmap2_with_build_id(21);
	MT_CHECK(!mt_kernel_record_decode(&without_trailer, k.bytes, k.size, &r));
}

MT_TEST(comm)
{
	struct kernel_bytes k = kernel_begin(MT_KERNEL_COMM, MT_MISC_COMM_EXEC);
	struct mt_kernel_record r;

	put32(&k, 11);
	put32(&k, 12);
	put_name(&k, "sh");
	r = decode(k);
	MT_CHECK_EQ(r.tid, 12);
	MT_CHECK_STR(r.name, "sh");
	MT_CHECK(r.exec);
	k.bytes[5] = 0;
	MT_CHECK(!decode(k).exec);
}

MT_TEST(a_name_has_to_end)
{
	struct kernel_bytes k = kernel_begin(MT_KERNEL_COMM, 0);
	struct mt_kernel_record r;

	put32(&k, 11);
	put32(&k, 12);
	put_bytes(&k, "12345678", 8);
	MT_CHECK(!mt_kernel_record_decode(&without_trailer, k.bytes, k.size, &r));
	put_trailer(&k); /* its zeros do not belong to the name */
	MT_CHECK(!mt_kernel_record_decode(&with_trailer, k.bytes, k.size, &r));
}

MT_TEST(fork_and_exit)
{
	struct kernel_bytes k = kernel_begin(MT_KERNEL_FORK, 0);
	struct mt_kernel_record r;

	put32(&k, 11);
	put32(&k, 1);
	put32(&k, 12);
	put32(&k, 2);
	put64(&k, 555);
	r = decode(k);
	MT_CHECK_EQ(r.pid, 11);
	MT_CHECK_EQ(r.ppid, 1);
	MT_CHECK_EQ(r.tid, 12);
	MT_CHECK_EQ(r.ptid, 2);
	MT_CHECK_EQ(r.event_time, 555);
	k.bytes[0] = MT_KERNEL_EXIT;
	MT_CHECK_EQ(decode(k).ptid, 2);
}

MT_TEST(lost_and_throttle)
{
	struct kernel_bytes k = kernel_begin(MT_KERNEL_LOST, 0);
	struct mt_kernel_record r;

	put64(&k, 9);
	put64(&k, 77);
	r = decode(k);
	MT_CHECK_EQ(r.lost_id, 9);
	MT_CHECK_EQ(r.lost, 77);
	k = kernel_begin(MT_KERNEL_LOST_SAMPLES, 0);
	put64(&k, 88);
	MT_CHECK_EQ(decode(k).lost, 88);
	k = kernel_begin(MT_KERNEL_UNTHROTTLE, 0);
	put64(&k, 555);
	put64(&k, 9);
	put64(&k, 10);
	MT_CHECK_EQ(decode(k).event_time, 555);
}

MT_TEST(ksymbol_and_cgroup)
{
	struct kernel_bytes k = kernel_begin(MT_KERNEL_KSYMBOL, 0);
	struct mt_kernel_record r;

	put64(&k, 0xffffffff81000000);
	put32(&k, 64);
	put16(&k, 1);
	put16(&k, 0);
	put_name(&k, "bpf_prog");
	r = decode(k);
	MT_CHECK_EQ(r.start, 0xffffffff81000000);
	MT_CHECK_EQ(r.length, 64);
	MT_CHECK_STR(r.name, "bpf_prog");
	k = kernel_begin(MT_KERNEL_CGROUP, 0);
	put64(&k, 42);
	put_name(&k, "/user.slice");
	r = decode(k);
	MT_CHECK_EQ(r.cgroup, 42);
	MT_CHECK_STR(r.name, "/user.slice");
}

MT_TEST(unknown_types_have_their_trailer)
{
	struct kernel_bytes k = kernel_begin(60, 0);

	put64(&k, 1);
	MT_CHECK_EQ(decode(k).type, 60);
	k = kernel_begin(MT_KERNEL_SWITCH, MT_MISC_SWITCH_OUT);
	MT_CHECK_EQ(decode(k).misc, MT_MISC_SWITCH_OUT);
}

MT_TEST(perf_tool_records_have_none)
{
	struct kernel_bytes k = kernel_begin(68, 0);
	struct mt_kernel_record r;

	MT_CHECK(mt_kernel_record_decode(&with_trailer, k.bytes, k.size, &r));
	MT_CHECK_EQ(r.id_pid, -1);
}

MT_TEST_MAIN
