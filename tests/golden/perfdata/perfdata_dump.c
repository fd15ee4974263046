/*
 * Prints what mt_reader gives for a file, one line a record with all its decoded fields, for the
 * tests of this folder: perfdata_dump FILE. An error is one line on standard error, and exit 3.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "formats/base/bytes.h"
#include "formats/base/err.h"
#include "formats/reader.h"
#include "formats/records/attr.h"
#include "formats/records/sample.h"
#include "formats/stacks/sample_record.h"

enum {
	EVENTS_MAX = 65536,
};

static struct mt_attr attrs[EVENTS_MAX];

static void print_text(const char *key, struct mt_text text)
{
	printf(" %s=", key);
	for (size_t i = 0; i < text.size; i++) {
		unsigned char byte = (unsigned char)text.bytes[i];

		if (byte > ' ' && byte < 127 && byte != '%')
			putchar(byte);
		else
			printf("%%%02x", byte);
	}
}

static void print_string(const char *key, const char *string)
{
	size_t size = 0;

	while (string && string[size])
		size++;
	print_text(key, (struct mt_text){string, size});
}

static void print_sample(const struct mt_sample *s)
{
	printf(" pid=%d tid=%d cpu=%u sample_time=%" PRIu64 " ip=%" PRIu64 " addr=%" PRIu64
	       " id=%" PRIu64 " stream_id=%" PRIu64 " period=%" PRIu64 " weight=%" PRIu64
	       " data_src=%" PRIu64,
	       s->pid, s->tid, s->cpu, s->time, s->ip, s->addr, s->id, s->stream_id, s->period,
	       s->weight, s->data_source);
	printf(" abi=%" PRIu64 " dump=%zu/%zu raw=%zu chain=", s->user_abi, s->dump_size,
	       s->dump_asked, s->raw_size);
	for (size_t i = 0; i < s->chain_count; i++)
		printf("%s%" PRIu64, i ? "," : "", s->chain[i]);
	printf(" has_branches=%d branches=", s->has_branches);
	for (size_t i = 0; i < s->branch_count; i++)
		printf("%s%" PRIu64 ":%" PRIu64 ":%" PRIu64, i ? "," : "", s->branches[i].from,
		       s->branches[i].to, s->branches[i].flags);
}

static void print_other(const struct mt_kernel_record *k)
{
	printf(" pid=%d tid=%d ppid=%d ptid=%d start=%" PRIu64 " len=%" PRIu64 " pgoff=%" PRIu64,
	       k->pid, k->tid, k->ppid, k->ptid, k->start, k->length, k->offset);
	printf(" prot=%u flags=%u maj=%u min=%u ino=%" PRIu64 " ino_generation=%" PRIu64, k->prot,
	       k->flags, k->major, k->minor, k->inode, k->inode_generation);
	printf(" event_time=%" PRIu64 " id_pid=%d id_tid=%d sample_time=%" PRIu64 " id=%" PRIu64
	       " cpu=%u lost=%" PRIu64,
	       k->event_time, k->id_pid, k->id_tid, k->time, k->id, k->cpu, k->lost);
	print_string("name", k->name);
	printf(" build_id=");
	for (size_t i = 0; i < k->build_id_size; i++)
		printf("%02x", k->build_id[i]);
}

static void print_kernel(const struct mt_record *record)
{
	struct mt_kernel_record other;
	struct mt_kernel_bytes bytes;
	struct mt_sample sample;
	uint32_t type;

	if (!mt_record_kernel_get(record, &bytes) || bytes.kernel_size < 8) {
		printf("DAMAGED");
		return;
	}
	type = mt_get_le32(bytes.kernel);
	printf("KERNEL type=%u misc=%u size=%u event=%d time=%" PRIu64, type,
	       mt_get_le16(bytes.kernel + 4), mt_get_le16(bytes.kernel + 6), (int)bytes.event,
	       record->time);
	if (bytes.event >= EVENTS_MAX)
		printf(" NOEVENT");
	else if (type == MT_KERNEL_SAMPLE && mt_sample_decode(&attrs[bytes.event], bytes.kernel,
							      bytes.kernel_size, NULL, &sample))
		print_sample(&sample);
	else if (type != MT_KERNEL_SAMPLE &&
		 mt_kernel_record_decode(&attrs[bytes.event], bytes.kernel, bytes.kernel_size,
					 &other))
		print_other(&other);
	else
		printf(" UNDECODABLE");
}

static void print_event(const struct mt_record *record)
{
	struct mt_event_record event;
	struct mt_attr *attr;

	if (!mt_event_get(record->body, record->size, &event) || event.index >= EVENTS_MAX)
		return;
	attr = &attrs[event.index];
	mt_attr_decode(event.attr.bytes, event.attr.size, attr);
	printf("EVENT index=%u role=%u type=%u config=%" PRIu64 " period=%" PRIu64
	       " attr_size=%zu flags=%" PRIu64 " sample_type=%" PRIu64
	       " branch_sample_type=%" PRIu64 " regs_user=%" PRIu64 " stack_user=%u format=%zu",
	       event.index, event.role, attr->type, attr->config, attr->sample_period,
	       event.attr.size, attr->flags, attr->sample_type, attr->branch_sample_type,
	       attr->sample_regs_user, attr->sample_stack_user, event.format.size);
	print_text("name", event.name);
	print_text("unit", event.unit);
}

static void print_state(const struct mt_record *record)
{
	struct mt_info_record info;
	struct mt_image_record image;
	struct mt_note_record note;

	if (record->type == MT_RECORD_INFO && mt_info_get(record->body, record->size, &info)) {
		printf("INFO");
		print_text("key", info.key);
		print_text("value", info.value);
	} else if (record->type == MT_RECORD_IMAGE &&
		   mt_image_get(record->body, record->size, &image)) {
		printf("IMAGE");
		print_text("path", image.path);
		printf(" build_id=");
		for (size_t i = 0; i < image.build_id.size; i++)
			printf("%02x", (unsigned char)image.build_id.bytes[i]);
	} else if (record->type == MT_RECORD_NOTE &&
		   mt_note_get(record->body, record->size, &note)) {
		printf("NOTE");
		print_text("text", note.text);
	} else {
		printf("RECORD type=%u", record->type);
	}
}

static void print_end(const struct mt_recording *r)
{
	const struct mt_damage *d = &r->damage;

	printf("END kind=%s", r->foreign ? "foreign" : "mtrec");
	print_string("foreign", r->foreign);
	printf(" first=%" PRIu64 " last=%" PRIu64 " cut_short=%d skipped=%" PRIu64
	       " damaged=%" PRIu64 " unknown=%" PRIu64 " disordered=%" PRIu64 "\n",
	       r->first_time, r->last_time, d->cut_short, d->skipped_bytes,
	       d->damaged_records + d->damaged_chunks, d->unknown_records, d->disordered);
}

static struct mt_error *dump(struct mt_reader *reader)
{
	struct mt_record record;
	struct mt_error *err;
	bool more;

	while (!(err = mt_reader_next(reader, &record, &more)) && more) {
		if (record.type == MT_RECORD_KERNEL || record.type == MT_RECORD_SAMPLE)
			print_kernel(&record);
		else if (record.type == MT_RECORD_EVENT)
			print_event(&record);
		else
			print_state(&record);
		putchar('\n');
	}
	if (!err)
		print_end(mt_reader_recording(reader, 0));
	return err;
}

int main(int argc, char **argv)
{
	struct mt_reader_options options = {0};
	struct mt_reader *reader = NULL;
	struct mt_error *err;

	if (argc == 3)
		options.memory_limit = strtoul(argv[2], NULL, 10);
	err = argc < 2 ? mt_error_create(MT_ERR_USAGE, "usage: perfdata_dump FILE [MEMORY]")
		       : mt_reader_open(argv[1], &options, &reader);
	err = err ? err : dump(reader);
	mt_reader_destroy(reader);
	if (!err)
		return 0;
	mt_error_print(err, "perfdata_dump", stderr);
	mt_error_destroy(err);
	return 3;
}
