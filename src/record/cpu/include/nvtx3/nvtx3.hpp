/* NVTX for C++: ranges that end with their scope, domains and names that are made at their first
 * use, attributes in any order. Everything goes through the functions of nvToolsExt.h. */
#ifndef CTASCOPE_NVTX3_HPP
#define CTASCOPE_NVTX3_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "nvToolsExt.h"

#define NVTX3_CPP_DEFINITIONS_V1_0
#define NVTX3_CPP_VERSION_MAJOR 1
#define NVTX3_CPP_VERSION_MINOR 0

namespace nvtx3
{
inline namespace v1
{

/* A domain: its tag is a type with a member `name`. domain::global is the one without a name. */
class domain
{
  public:
    struct global {
    };

    domain(const domain &) = delete;
    domain &operator=(const domain &) = delete;

    /* The domain of a tag; made at the first call. */
    template <typename D = global> static const domain &get() noexcept
    {
        static const domain made{create<D>(std::is_same<D, global>{})};
        return made;
    }

    operator nvtxDomainHandle_t() const noexcept { return handle; }

  private:
    explicit domain(nvtxDomainHandle_t of) noexcept : handle{of} {}
    template <typename D> static nvtxDomainHandle_t create(std::true_type) noexcept
    {
        return nullptr;
    }
    template <typename D> static nvtxDomainHandle_t create(std::false_type) noexcept
    {
        return named(D::name);
    }
    static nvtxDomainHandle_t named(const char *name) noexcept { return nvtxDomainCreateA(name); }
    static nvtxDomainHandle_t named(const wchar_t *name) noexcept
    {
        return nvtxDomainCreateW(name);
    }

    nvtxDomainHandle_t handle;
};

struct argb {
    using component_type = std::uint8_t;
    constexpr argb(component_type a, component_type r, component_type g, component_type b) noexcept
        : alpha{a}, red{r}, green{g}, blue{b}
    {
    }
    component_type alpha, red, green, blue;
};

struct rgb {
    using component_type = std::uint8_t;
    constexpr rgb(component_type r, component_type g, component_type b) noexcept
        : red{r}, green{g}, blue{b}
    {
    }
    component_type red, green, blue;
};

class color
{
  public:
    using value_type = std::uint32_t;
    constexpr explicit color(value_type hexadecimal) noexcept : value{hexadecimal} {}
    constexpr color(argb of) noexcept
        : value{value_type{of.alpha} << 24 | value_type{of.red} << 16 | value_type{of.green} << 8 |
                of.blue}
    {
    }
    constexpr color(rgb of) noexcept : color{argb{0xff, of.red, of.green, of.blue}} {}
    constexpr value_type get_value() const noexcept { return value; }
    constexpr nvtxColorType_t get_type() const noexcept { return NVTX_COLOR_ARGB; }

  private:
    value_type value;
};

class category
{
  public:
    using id_type = std::uint32_t;
    constexpr explicit category(id_type number) noexcept : id{number} {}
    constexpr id_type get_id() const noexcept { return id; }

  private:
    id_type id;
};

template <typename D = domain::global> class named_category_in final : public category
{
  public:
    /* The category of a type with members `name` and `id`; named at the first call. */
    template <typename C> static const named_category_in &get() noexcept
    {
        static const named_category_in named{C::id, C::name};
        return named;
    }
    named_category_in(id_type id, const char *name) noexcept : category{id}
    {
        nvtxDomainNameCategoryA(domain::get<D>(), id, name);
    }
    named_category_in(id_type id, const wchar_t *name) noexcept : category{id}
    {
        nvtxDomainNameCategoryW(domain::get<D>(), id, name);
    }
};
using named_category = named_category_in<>;

template <typename D = domain::global> class registered_string_in
{
  public:
    /* The string of a type with a member `message`; registered at the first call. */
    template <typename M> static const registered_string_in &get() noexcept
    {
        static const registered_string_in registered{M::message};
        return registered;
    }
    explicit registered_string_in(const char *text) noexcept
        : handle{nvtxDomainRegisterStringA(domain::get<D>(), text)}
    {
    }
    explicit registered_string_in(const wchar_t *text) noexcept
        : handle{nvtxDomainRegisterStringW(domain::get<D>(), text)}
    {
    }
    explicit registered_string_in(const std::string &text) noexcept
        : registered_string_in{text.c_str()}
    {
    }
    explicit registered_string_in(const std::wstring &text) noexcept
        : registered_string_in{text.c_str()}
    {
    }
    nvtxStringHandle_t get_handle() const noexcept { return handle; }

  private:
    nvtxStringHandle_t handle;
};
using registered_string = registered_string_in<>;

/* Points to its text, which has to outlive it. */
class message
{
  public:
    using value_type = nvtxMessageValue_t;
    message(const char *text) noexcept : type{NVTX_MESSAGE_TYPE_ASCII}, value{}
    {
        value.ascii = text;
    }
    message(const wchar_t *text) noexcept : type{NVTX_MESSAGE_TYPE_UNICODE}, value{}
    {
        value.unicode = text;
    }
    message(const std::string &text) noexcept : message{text.c_str()} {}
    message(const std::wstring &text) noexcept : message{text.c_str()} {}
    message(std::string &&) = delete;
    message(std::wstring &&) = delete;
    template <typename D>
    message(const registered_string_in<D> &text) noexcept
        : type{NVTX_MESSAGE_TYPE_REGISTERED}, value{}
    {
        value.registered = text.get_handle();
    }
    constexpr message(nvtxMessageType_t of, const nvtxMessageValue_t &text) noexcept
        : type{of}, value{text}
    {
    }
    constexpr nvtxMessageType_t get_type() const noexcept { return type; }
    constexpr value_type get_value() const noexcept { return value; }

  private:
    nvtxMessageType_t type;
    value_type value;
};

class payload
{
  public:
    using value_type = decltype(nvtxEventAttributes_t::payload);
    explicit payload(std::int64_t of) noexcept : type{NVTX_PAYLOAD_TYPE_INT64}, value{}
    {
        value.llValue = of;
    }
    explicit payload(std::int32_t of) noexcept : type{NVTX_PAYLOAD_TYPE_INT32}, value{}
    {
        value.iValue = of;
    }
    explicit payload(std::uint64_t of) noexcept : type{NVTX_PAYLOAD_TYPE_UNSIGNED_INT64}, value{}
    {
        value.ullValue = of;
    }
    explicit payload(std::uint32_t of) noexcept : type{NVTX_PAYLOAD_TYPE_UNSIGNED_INT32}, value{}
    {
        value.uiValue = of;
    }
    explicit payload(float of) noexcept : type{NVTX_PAYLOAD_TYPE_FLOAT}, value{}
    {
        value.fValue = of;
    }
    explicit payload(double of) noexcept : type{NVTX_PAYLOAD_TYPE_DOUBLE}, value{}
    {
        value.dValue = of;
    }
    nvtxPayloadType_t get_type() const noexcept { return type; }
    value_type get_value() const noexcept { return value; }

  private:
    nvtxPayloadType_t type;
    value_type value;
};

/* The attributes of a range or a mark in any order; of two of a kind the first counts. */
class event_attributes
{
  public:
    using value_type = nvtxEventAttributes_t;
    event_attributes() noexcept : attributes{}
    {
        attributes.version = NVTX_VERSION;
        attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    }
    template <typename... Others>
    explicit event_attributes(const category &first, const Others &...others) noexcept
        : event_attributes(others...)
    {
        attributes.category = first.get_id();
    }
    template <typename... Others>
    explicit event_attributes(const color &first, const Others &...others) noexcept
        : event_attributes(others...)
    {
        attributes.colorType = first.get_type();
        attributes.color = first.get_value();
    }
    template <typename... Others>
    explicit event_attributes(const payload &first, const Others &...others) noexcept
        : event_attributes(others...)
    {
        attributes.payloadType = first.get_type();
        attributes.payload = first.get_value();
    }
    template <typename... Others>
    explicit event_attributes(const message &first, const Others &...others) noexcept
        : event_attributes(others...)
    {
        attributes.messageType = first.get_type();
        attributes.message = first.get_value();
    }
    const value_type *get() const noexcept { return &attributes; }

  private:
    value_type attributes;
};

/* A range of the calling thread, from here to the end of the scope. */
template <typename D = domain::global> class scoped_range_in
{
  public:
    explicit scoped_range_in(const event_attributes &attributes) noexcept
    {
        nvtxDomainRangePushEx(domain::get<D>(), attributes.get());
    }
    template <typename... Arguments>
    explicit scoped_range_in(const Arguments &...arguments) noexcept
        : scoped_range_in{event_attributes{arguments...}}
    {
    }
    ~scoped_range_in() { nvtxDomainRangePop(domain::get<D>()); }
    scoped_range_in(const scoped_range_in &) = delete;
    scoped_range_in &operator=(const scoped_range_in &) = delete;
    void *operator new(std::size_t) = delete;
};
using scoped_range = scoped_range_in<>;

/* What start_range gives; false if nothing was started. */
struct range_handle {
    using value_type = nvtxRangeId_t;
    constexpr range_handle() noexcept = default;
    constexpr range_handle(std::nullptr_t) noexcept {}
    constexpr explicit range_handle(value_type of) noexcept : id{of} {}
    constexpr explicit operator bool() const noexcept { return id != 0; }
    constexpr value_type get_value() const noexcept { return id; }
    friend constexpr bool operator==(range_handle a, range_handle b) noexcept
    {
        return a.id == b.id;
    }
    friend constexpr bool operator!=(range_handle a, range_handle b) noexcept
    {
        return a.id != b.id;
    }

  private:
    value_type id = 0;
};

template <typename D = domain::global>
range_handle start_range_in(const event_attributes &attributes) noexcept
{
    return range_handle{nvtxDomainRangeStartEx(domain::get<D>(), attributes.get())};
}

template <typename D = domain::global, typename... Arguments>
range_handle start_range_in(const Arguments &...arguments) noexcept
{
    return start_range_in<D>(event_attributes{arguments...});
}

template <typename... Arguments> range_handle start_range(const Arguments &...arguments) noexcept
{
    return start_range_in<domain::global>(arguments...);
}

template <typename D = domain::global> void end_range_in(range_handle range) noexcept
{
    nvtxDomainRangeEnd(domain::get<D>(), range.get_value());
}

inline void end_range(range_handle range) noexcept
{
    end_range_in<domain::global>(range);
}

/* A range that may be handed on, also to another thread, and ends with its last owner. */
template <typename D = domain::global> class unique_range_in
{
  public:
    explicit unique_range_in(const event_attributes &attributes) noexcept
        : handle{start_range_in<D>(attributes)}
    {
    }
    template <typename... Arguments>
    explicit unique_range_in(const Arguments &...arguments) noexcept
        : unique_range_in{event_attributes{arguments...}}
    {
    }
    unique_range_in(unique_range_in &&other) noexcept : handle{other.handle} { other.handle = {}; }
    unique_range_in &operator=(unique_range_in &&other) noexcept
    {
        std::swap(handle, other.handle);
        return *this;
    }
    ~unique_range_in()
    {
        if (handle) end_range_in<D>(handle);
    }

  private:
    range_handle handle;
};
using unique_range = unique_range_in<>;

template <typename D = domain::global> void mark_in(const event_attributes &attributes) noexcept
{
    nvtxDomainMarkEx(domain::get<D>(), attributes.get());
}

template <typename D = domain::global, typename... Arguments>
void mark_in(const Arguments &...arguments) noexcept
{
    mark_in<D>(event_attributes{arguments...});
}

template <typename... Arguments> void mark(const Arguments &...arguments) noexcept
{
    mark_in<domain::global>(arguments...);
}

} // namespace v1
} // namespace nvtx3

/* A range for the function that this stands in, with the function's name. */
#define NVTX3_FUNC_RANGE_IN(D)                                                                     \
    static const ::nvtx3::registered_string_in<D> nvtx3_function_name_{__func__};                  \
    static const ::nvtx3::event_attributes nvtx3_function_attributes_{nvtx3_function_name_};       \
    const ::nvtx3::scoped_range_in<D> nvtx3_function_range_                                        \
    {                                                                                              \
        nvtx3_function_attributes_                                                                 \
    }
#define NVTX3_FUNC_RANGE() NVTX3_FUNC_RANGE_IN(::nvtx3::domain::global)
#define NVTX3_FUNC_RANGE_IF_IN(D, condition)                                                       \
    ::std::unique_ptr<const ::nvtx3::unique_range_in<D>> nvtx3_function_range_if_;                 \
    if (condition) nvtx3_function_range_if_.reset(new ::nvtx3::unique_range_in<D>{__func__})
#define NVTX3_FUNC_RANGE_IF(condition) NVTX3_FUNC_RANGE_IF_IN(::nvtx3::domain::global, condition)

#define NVTX3_V1_FUNC_RANGE_IN    NVTX3_FUNC_RANGE_IN
#define NVTX3_V1_FUNC_RANGE       NVTX3_FUNC_RANGE
#define NVTX3_V1_FUNC_RANGE_IF_IN NVTX3_FUNC_RANGE_IF_IN
#define NVTX3_V1_FUNC_RANGE_IF    NVTX3_FUNC_RANGE_IF

#endif
