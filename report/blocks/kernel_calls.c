/* A table of the tracepoints. */
#include "report/blocks/kernel_calls.h"

#include <string.h>

#include "formats/records/address_sample.h"
#include "formats/records/record.h"
#include "formats/records/sample.h"

enum {
	PAGE = 4096,
	ORDER_MOST = 20,
};

struct mt_kernel_allocator {
	const char *event;
	enum mt_kernel_account account;
	enum mt_block_effect effect;
	const char *address, *asked, *usable; /* names of fields, NULL: none */
	const char *name;		      /* of the cache: a field, or a fixed name */
	bool has_name_field;
};

static const struct mt_kernel_allocator allocators[] = {
	{"kmem:kmalloc", MT_KERNEL_OBJECTS, MT_BLOCK_GIVES, "ptr", "bytes_req", "bytes_alloc",
	 "kmalloc", false},
	{"kmem:kmalloc_node", MT_KERNEL_OBJECTS, MT_BLOCK_GIVES, "ptr", "bytes_req", "bytes_alloc",
	 "kmalloc", false},
	{"kmem:kmem_cache_alloc", MT_KERNEL_OBJECTS, MT_BLOCK_GIVES, "ptr", "bytes_req",
	 "bytes_alloc", "name", true},
	{"kmem:kmem_cache_alloc_node", MT_KERNEL_OBJECTS, MT_BLOCK_GIVES, "ptr", "bytes_req",
	 "bytes_alloc", "name", true},
	{"kmem:kfree", MT_KERNEL_OBJECTS, MT_BLOCK_FREES, "ptr", NULL, NULL, NULL, false},
	{"kmem:kmem_cache_free", MT_KERNEL_OBJECTS, MT_BLOCK_FREES, "ptr", NULL, NULL, NULL, false},
	{"kmem:mm_page_alloc", MT_KERNEL_PAGES, MT_BLOCK_GIVES, "pfn", "order", "order", "pages",
	 false},
	{"kmem:mm_page_free", MT_KERNEL_PAGES, MT_BLOCK_FREES, "pfn", NULL, NULL, NULL, false},
	{"percpu:percpu_alloc_percpu", MT_KERNEL_PER_CPU, MT_BLOCK_GIVES, "ptr", "size",
	 "bytes_alloc", "percpu", false},
	{"percpu:percpu_free_percpu", MT_KERNEL_PER_CPU, MT_BLOCK_FREES, "ptr", NULL, NULL, NULL,
	 false},
};

static const struct mt_kernel_allocator *find(const char *name)
{
	size_t length = strcspn(name, "/");

	for (size_t i = 0; i < sizeof(allocators) / sizeof(*allocators); i++) {
		if (strlen(allocators[i].event) == length &&
		    !memcmp(allocators[i].event, name, length))
			return &allocators[i];
	}
	return NULL;
}

bool mt_kernel_event_is(const char *name)
{
	return find(name);
}

static struct mt_field field(const struct mt_text *format, const char *name)
{
	return name ? mt_field_find(format, name) : (struct mt_field){0};
}

struct mt_kernel_event mt_kernel_event_parse(const char *name, const struct mt_text *format)
{
	const struct mt_kernel_allocator *allocator = find(name);
	struct mt_kernel_event event = {0};

	if (!allocator)
		return event;
	event.allocator = allocator;
	event.address = field(format, allocator->address);
	event.asked = field(format, allocator->asked);
	event.usable = field(format, allocator->usable);
	/* Linux 4.x records only the requested bytes of per-CPU memory. */
	if (!event.usable.size)
		event.usable = event.asked;
	if (allocator->has_name_field)
		event.name = field(format, allocator->name);
	return event;
}

static uint64_t number(const struct mt_field *from, const struct mt_sample *sample)
{
	uint64_t value;

	return mt_field_get(from, sample, &value) ? value : 0;
}

static void find_name(const struct mt_kernel_event *event, const struct mt_sample *sample,
		      const char **cache, uint32_t *length)
{
	size_t size;
	const char *name = mt_field_text(&event->name, sample, &size);

	*cache = event->allocator->name && !event->allocator->has_name_field
			 ? event->allocator->name
			 : "";
	*length = (uint32_t)strlen(*cache);
	if (!name)
		return;
	*cache = name;
	*length = (uint32_t)size;
}

enum mt_kernel_account mt_kernel_call_take(const struct mt_kernel_event *event,
					   const struct mt_sample *sample, uint64_t time,
					   struct mt_block_call *out, const char **cache,
					   uint32_t *length)
{
	const struct mt_kernel_allocator *allocator = event->allocator;
	uint64_t address = number(&event->address, sample);
	uint64_t asked = number(&event->asked, sample), usable = number(&event->usable, sample);

	*out = (struct mt_block_call){0};
	find_name(event, sample, cache, length);
	if (!address || address == UINT64_MAX)
		return allocator->account; /* kfree(NULL), or out of memory */
	out->effect = allocator->effect;
	out->freed = address;
	if (out->effect == MT_BLOCK_FREES)
		return allocator->account;
	if (allocator->account == MT_KERNEL_PAGES)
		asked = usable = asked < ORDER_MOST ? (uint64_t)PAGE << asked : PAGE;
	if (event->one_in > 1 && !mt_address_is_sampled(address, event->one_in)) {
		out->effect = MT_BLOCK_NOTHING; /* Linux 4.3 and older: children are not filtered */
		return allocator->account;
	}
	out->freed = 0;
	out->given = (struct mt_block_given){
		.address = address,
		.asked = asked,
		.usable = usable,
		.enter = time, /* these calls do not contain each other */
		.time = time,
		.tid = sample->tid,
		.has_asked = true,
	};
	return allocator->account;
}
